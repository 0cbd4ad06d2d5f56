import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { faultOfInodes, watchRisks } from "../../src/serve/risks.ts";

suite("risks of a server", () => {
  test("are few inodes, but not those of a disk without a limit, or of one that does not answer", () => {
    assert.equal(faultOfInodes(null), null);
    assert.equal(faultOfInodes({ files: 0, ffree: 0 }), null);
    assert.equal(faultOfInodes({ files: 10_000_000, ffree: 1000 }), null);
    assert.equal(faultOfInodes({ files: 15_000, ffree: 150 }), null);
    assert.match(String(faultOfInodes({ files: 15_000, ffree: 149 })), /only 149 more files can be made/);
  });

  test("are lost keys, by name", async () => {
    const errorsOf = async (keys: string[]) =>
      (await watchRisks(".", { missingKeys: async () => keys })()).flatMap(({ error }) => error ?? []);
    assert.deepEqual(await errorsOf([]), []);
    assert.match(String(await errorsOf(["0123456789abcdef"])), /encrypted with 0123456789abcdef: add the file/);
  });
});
