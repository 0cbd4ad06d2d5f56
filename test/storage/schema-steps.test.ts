import assert from "node:assert/strict";
import { suite, test } from "node:test";
import packageJson from "../../package.json" with { type: "json" };
import { STEP_DIGESTS as POSTGRES } from "../../src/postgres/schema.ts";
import { STEP_DIGESTS as SQLITE } from "../../src/sqlite/schema.ts";
import { changedStep, digestsOf, faultOfNewer, stepsToRecord } from "../../src/storage/schema-steps.ts";

suite("the steps of the schemas", () => {
  // A step that databases have been made with must stay as it is. Add the digest of a new step at the end.
  test("never change", () => {
    assert.deepEqual(SQLITE, [
      "3608a198467459ba",
      "f13daf82284b3996",
      "2bb970698115b74c",
      "12497c359ecbb308",
      "9f76ccdec351a577",
      "2ad839fd1a41ba8f",
      "5587f85f556a2fc4",
      "1305b6404370f851",
      "d53c9293cc3f140e",
      "de3b0fbb21bdf4f7",
      "3f69ed2034980d70",
      "bdf7af2930274aab",
      "ec8e2b4f98ca9187",
      "9020c7c547d297f9",
      "0ff6ee293d065e76",
      "93ba27d8b6d93cc3",
      "b4d77311dea4fc56",
      "36cbce2aa3701dd5",
      "7c84114129f31bd4",
      "2dd056fdb233c6b2",
    ]);
    assert.deepEqual(POSTGRES, [
      "f024e019f20f64a2",
      "43d6a1fcc234aeb5",
      "973ada626e490a4a",
      "b975e80ab3cb738b",
      "b0a88edb22cc6095",
      "d7b5189b4ee0ae85",
      "4b9d6a1c2d1e0636",
      "2907b8b6c438e116",
      "0cd88a6dbab034dc",
      "de9afd8fa667329e",
      "58896371814ac7f0",
      "5a2091e592d08094",
      "e92139327909bbe5",
      "0fc65c31192bd1ab",
      "dffc623e8ad981dd",
      "89be5fc4815c52df",
      "9435892596271dcc",
      "23a6e98d33140ea4",
      "f2c6a43e5dca3f62",
      "6d6d62a6e244f558",
    ]);
  });

  test("have the same digest with other comments and line breaks, and another one with other statements", () => {
    const [digest] = digestsOf(["CREATE TABLE a (\n  b text  -- why\n);"]);
    assert.deepEqual(digestsOf(["-- what\nCREATE TABLE a ( b text );"]), [digest]);
    assert.notDeepEqual(digestsOf(["CREATE TABLE a ( b bytea );"]), [digest]);
  });

  test("are compared with those that made a database, as far as it has them", () => {
    assert.equal(changedStep([], ["a", "b"]), null);
    assert.equal(changedStep(["a"], ["a", "b"]), null);
    assert.equal(changedStep(["a", "c"], ["a", "b"]), 1);
    assert.equal(changedStep(["a 0.2.0", "b 0.3.0"], ["a", "b"]), null);
    assert.equal(changedStep(["a 0.2.0", "c 0.3.0"], ["a", "b"]), 1);
  });

  test("are kept with the version that made each, and a newer database names the version that it needs", () => {
    const { version } = packageJson;
    assert.equal(stepsToRecord([], ["a"]), `["a ${version}"]`);
    assert.equal(stepsToRecord(["a"], ["a"]), `["a ${version}"]`);
    assert.equal(stepsToRecord(["a 0.0.1"], ["a", "b"]), `["a 0.0.1","b ${version}"]`);
    assert.equal(stepsToRecord(["a 0.0.1"], ["a"]), null);
    assert.equal(faultOfNewer(17, 16, ["a 0.2.0", "b 0.4.0"]).remedy, "run authserve 0.4.0 or newer");
    assert.equal(faultOfNewer(17, 16, ["a"]).remedy, "run the newer authserve");
  });
});
