import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseDurationMs, parseSizeBytes, parseTtlSeconds } from "../../src/config/units.ts";

suite("durations", () => {
  for (const [text, ms] of [
    ["0ms", 0],
    ["500ms", 500],
    ["30s", 30_000],
    ["15m", 900_000],
    ["2h", 7_200_000],
    ["7d", 604_800_000],
  ] as const) {
    test(`${text} is ${ms} ms`, () => assert.equal(parseDurationMs(text), ms));
  }

  for (const text of ["", "30", "s", "-1s", "1.5s", "1 s", " 1s", "1s ", "1S", "1w", "1e3s", "0x10s", "1s\n", "١s"]) {
    test(`${JSON.stringify(text)} is not a duration`, () => assert.equal(parseDurationMs(text), null));
  }

  test("a duration above the safe integers is refused", () => assert.equal(parseDurationMs("999999999999999d"), null));
});

suite("token lifetimes", () => {
  for (const [text, seconds] of [
    ["900s", 900],
    ["15m", 900],
    ["2h", 7200],
    ["1d", 86_400],
    ["0s", 0],
    ["007s", 7],
  ] as const) {
    test(`${text} is ${seconds} seconds`, () => assert.equal(parseTtlSeconds(text), seconds));
  }

  for (const text of ["", "900", "900ms", "15 m", "1.5h", "-1s", "+1s", "900S", "15min", "900s\n", " 900s"]) {
    test(`${JSON.stringify(text)} is not a lifetime`, () => assert.equal(parseTtlSeconds(text), null));
  }
});

suite("sizes", () => {
  for (const [text, bytes] of [
    ["1", 1],
    ["65536", 65_536],
    ["512k", 524_288],
    ["512K", 524_288],
    ["1m", 1_048_576],
    ["2g", 2_147_483_648],
    ["2G", 2_147_483_648],
  ] as const) {
    test(`${text} is ${bytes} bytes`, () => assert.equal(parseSizeBytes(text), bytes));
  }

  for (const text of ["", "k", "g", "1t", "1kb", "-1", "1.5m", "1 m"]) {
    test(`${JSON.stringify(text)} is not a size`, () => assert.equal(parseSizeBytes(text), null));
  }
});
