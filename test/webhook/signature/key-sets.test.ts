import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { createKeySets, freshMsOf, type KeySet, openKeySetCopies } from "../../../src/webhook/signature/key-sets.ts";
import { readPublicKeys } from "../../../src/webhook/signature/public-key.ts";
import type { Source } from "../../../src/webhook/source.ts";
import { sourceIn } from "../../helpers/config-file.ts";
import { recordingLog } from "../../helpers/log.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const jwkOf = (kid: string) => ({ ...generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }), kid });
const setOf = (...keys: object[]) => JSON.stringify({ keys });
const [ONE, TWO] = [jwkOf("one"), jwkOf("two")];

const SOURCE = sourceIn('{ preset: discord, keys: ["url:https://example.com/jwks?token=abc"] }');
const SET = SOURCE.keys?.[0]?.set as KeySet;
const idsOf = ({ keys = [] }: Source) => keys.flatMap((key) => key.keys.map(({ id }) => id));

test("a set with very many keys is refused, and so are those of an unknown type in it", () => {
  const many = (count: number) => JSON.stringify({ keys: [ONE, ...Array.from({ length: count }, () => ({}))] });
  assert.equal(readPublicKeys(many(199))?.length, 1);
  assert.equal(readPublicKeys(many(200)), null);
});

/** Sets in a data directory, whose content and clock the test sets. */
function opened(context: TestContext, dataDir = workingDir()) {
  const sender: { content: string | Error; reads: number; now: number } = { content: setOf(ONE), reads: 0, now: 0 };
  const { log, named } = recordingLog();
  const sets = createKeySets({
    async read() {
      sender.reads++;
      if (sender.content instanceof Error) throw sender.content;
      return { text: sender.content };
    },
    copies: openKeySetCopies(dataDir),
    log,
    now: () => sender.now,
  });
  context.after(() => sets.stop());
  return { sets, sender, named, dataDir, source: sets.withKeys(SOURCE) };
}

suite("a set of public keys", () => {
  test("is named without the query of its URL", () => {
    assert.deepEqual(
      [SET.name, SOURCE.keys?.[0]?.name, SET.place],
      ["https://example.com/jwks?…", "url:https://example.com/jwks?…", "https://example.com/jwks?token=abc"],
    );
  });

  test("gives its source the present keys", async (t) => {
    const { sets, sender, source, named } = opened(t);
    assert.deepEqual([idsOf(source), sets.isMissing(SOURCE)], [[], true]);
    sets.apply([SET]);
    await sets.tried([SET]);
    assert.deepEqual([idsOf(source), sets.isMissing(SOURCE)], [["one"], false]);
    sender.content = setOf(ONE, TWO);
    assert.equal(await sets.renew(SOURCE), true);
    assert.deepEqual(idsOf(source), ["one", "two"]);
    assert.deepEqual(
      named("key_set_changed").map(({ keys, count }) => [keys, count]),
      [
        [SET.name, 1],
        [SET.name, 2],
      ],
    );
  });

  test("is renewed at most once a minute, and all who ask meanwhile wait for it", async (t) => {
    const { sets, sender, source } = opened(t);
    sets.apply([SET]);
    await sets.tried([SET]);
    sender.content = setOf(TWO);
    assert.deepEqual(await Promise.all([sets.renew(SOURCE), sets.renew(SOURCE)]), [true, true]);
    assert.equal(sender.reads, 2);
    sender.content = setOf(ONE);
    sender.now = 59_999;
    assert.equal(await sets.renew(SOURCE), false);
    assert.deepEqual([sender.reads, idsOf(source)], [2, ["two"]]);
    sender.now = 60_000;
    assert.equal(await sets.renew(SOURCE), true);
    assert.deepEqual([sender.reads, idsOf(source)], [3, ["one"]]);
  });

  for (const [what, content, error] of [
    ["cannot be fetched", new Error("nobody answers"), "nobody answers"],
    ["is no set", "<html>", "has no public key"],
    ["is empty", '{"keys":[]}', "has no public key"],
    [
      "has private keys",
      setOf(generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" })),
      "has no public key",
    ],
  ] as const) {
    test(`that ${what} leaves the last good one in use, also after a start`, async (t) => {
      const first = opened(t);
      first.sets.apply([SET]);
      await first.sets.tried([SET]);
      first.sender.content = content;
      assert.equal(await first.sets.renew(SOURCE), false);
      assert.deepEqual(idsOf(first.source), ["one"]);
      assert.deepEqual(
        [first.named("key_set_error")[0]?.keys, first.named("key_set_error")[0]?.error],
        [SET.name, error],
      );
      await first.sets.stop();
      const second = opened(t, first.dataDir);
      second.sender.content = content;
      second.sets.apply([SET]);
      assert.deepEqual([idsOf(second.source), second.sets.isMissing(SOURCE)], [["one"], false]);
    });
  }

  test("leaves out what cannot verify a signature", async (t) => {
    const { sets, sender, source } = opened(t);
    sender.content = setOf({ kty: "new", kid: "unknown" }, { ...TWO, use: "enc" }, ONE);
    sets.apply([SET]);
    await sets.tried([SET]);
    assert.deepEqual(idsOf(source), ["one"]);
  });

  test("whose copy is damaged counts as never read", async (t) => {
    const { sets, dataDir } = opened(t);
    sets.apply([SET]);
    await sets.tried([SET]);
    await sets.stop();
    const folder = join(dataDir, "key-sets");
    const file = join(folder, readdirSync(folder)[0] ?? "");
    const copy = JSON.parse(readFileSync(file, "utf8"));
    assert.deepEqual(copy, { keys: SET.name, readAt: "1970-01-01T00:00:00.000Z", text: setOf(ONE) });
    writeFileSync(file, JSON.stringify({ ...copy, text: "{" }));
    assert.equal(openKeySetCopies(dataDir).read(SET), null);
  });

  test("is fresh as long as its sender says, between a minute and a day", () => {
    for (const [cacheControl, seconds] of [
      ["public, max-age=21600, must-revalidate", 21_600],
      ["s-maxage=5,max-age=300", 300],
      ["max-age=0", 60],
      ["max-age=31536000", 86_400],
    ] as const)
      assert.equal(freshMsOf(cacheControl), seconds * 1000, cacheControl);
    for (const cacheControl of ["no-cache", "s-maxage=300", "max-age=soon", undefined])
      assert.equal(freshMsOf(cacheControl), undefined);
  });
});

test("the other keys of a source stay as they are", (t) => {
  const { sets } = opened(t);
  const key = JSON.stringify(JSON.stringify(ONE));
  const source = sourceIn(`{ preset: discord, keys: [${key}, "url:https://example.com/jwks"] }`);
  assert.deepEqual(idsOf(sets.withKeys(source)), ["one"]);
  assert.equal(sets.isMissing(source), true);
});
