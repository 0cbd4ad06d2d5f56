import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { PersonStore } from "../../src/auth/people/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;
const END = NOW + 1000;
const BEN = { id: "ben", email: "ben@example.com" };

/** The contract of links in every store of people. `open` returns an empty one, which is closed after the test. */
export function invitationContract(adapter: string, open: (context: Cleanup) => Promise<PersonStore>): void {
  async function opened(t: Cleanup): Promise<PersonStore> {
    const store = await open(t);
    await store.take([BEN, { id: "eve", email: "eve@example.com" }], [], "mark");
    return store;
  }

  suite(`invitations: ${adapter}`, () => {
    test("one is for a person who is there", async (t) => {
      const store = await opened(t);
      assert.equal(await store.invite("nobody", "link", END), false);
      assert.equal(await store.openInvitation("link", "browser", NOW), null);
      assert.equal(await store.invite("ben", "link", END), true);
      assert.equal(await store.openInvitation("link", "browser", NOW), "ben");
    });

    test("the first browser gets it, also when several open it at once, and uses it once", async (t) => {
      const store = await opened(t);
      await store.invite("ben", "link", END);
      const browsers = ["one", "two", "three"];
      assert.equal(await store.useInvitation("link", "one", NOW), null, "nobody has opened it");
      const found = await Promise.all(browsers.map((browser) => store.openInvitation("link", browser, NOW)));
      assert.deepEqual(found.filter((id) => id !== null).length, 1);
      const first = browsers[found.indexOf("ben")] ?? "";
      assert.equal(await store.openInvitation("link", first, NOW), "ben", "again");
      for (const other of browsers.filter((one) => one !== first))
        assert.equal(await store.useInvitation("link", other, NOW), null);
      const used = await Promise.all(browsers.map(() => store.useInvitation("link", first, NOW)));
      assert.deepEqual(used.filter((id) => id !== null).length, 1);
      assert.equal(await store.openInvitation("link", first, NOW), null);
    });

    test("one ends at its time, with the person, and with a new one", async (t) => {
      const store = await opened(t);
      await store.invite("ben", "first", END);
      assert.equal(await store.openInvitation("first", "browser", END - 1), "ben");
      assert.equal(await store.openInvitation("first", "browser", END), null);
      assert.equal(await store.useInvitation("first", "browser", END), null);
      await store.invite("ben", "second", END);
      assert.equal(await store.openInvitation("first", "browser", NOW), null);
      assert.equal(await store.openInvitation("second", "another", NOW), "ben", "any browser may open the new one");
      await store.setPassword("ben", "hash");
      assert.equal(await store.openInvitation("second", "another", NOW), null);
      await store.invite("ben", "third", END);
      await store.take([BEN], [{ id: "ben", mark: "mark" }], "another mark");
      assert.equal(await store.openInvitation("third", "another", NOW), null);
    });
  });
}
