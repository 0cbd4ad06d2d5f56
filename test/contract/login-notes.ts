import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { FactorStores } from "../../src/auth/factors/store.ts";
import type { SessionStore } from "../../src/auth/sessions.ts";
import type { ThrottleStore } from "../../src/auth/throttle/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { loginOf } from "./factor-store.ts";

/** The stores of one database. `breakList` takes the list of logins away. */
interface NoteStores {
  sessions: SessionStore;
  factors: FactorStores;
  throttle: ThrottleStore;
  breakList(): Promise<void>;
}

/** The contract of what a login leaves beside its session, where all is in one database. */
export function loginNotesContract(adapter: string, open: (context: Cleanup) => Promise<NoteStores>): void {
  suite(`the notes of a login: ${adapter}`, () => {
    const login = loginOf("a");
    const notes = { login, account: "", knownBucket: "of the address" };

    test("are written with its session", async (t) => {
      const { sessions, factors, throttle } = await open(t);
      const replaced = await sessions.replace("1", "a", 60, undefined, notes);
      assert.deepEqual(replaced, { wasLive: false, lostNotes: null });
      assert.deepEqual(await factors.logins(""), [login]);
      assert.equal(await throttle.isKnown("of the address", login.at), true);
      await sessions.replace("1", "b", 60, undefined, { login: loginOf("b"), account: "ada", knownBucket: null });
      assert.deepEqual(await factors.logins("ada"), [loginOf("b")]);
      assert.deepEqual(await factors.logins(""), [login]);
    });

    test("may be lost, and the login succeeds", async (t) => {
      const { sessions, throttle, breakList } = await open(t);
      await sessions.replace("1", "earlier", 60);
      await breakList();
      const { wasLive, lostNotes } = await sessions.replace("1", "a", 60, undefined, notes);
      assert.equal(wasLive, true);
      assert.match(lostNotes ?? "", /logins/);
      assert.equal(await sessions.current("1"), "a");
      assert.equal(await throttle.isKnown("of the address", login.at), false);
    });
  });
}
