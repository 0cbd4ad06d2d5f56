import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bytesText, durationText } from "../../src/lib/figures.ts";

const HOUR = 3_600_000;

suite("a duration in words", () => {
  for (const [ms, text] of [
    [-5, "0 ms"],
    [0, "0 ms"],
    [999, "999 ms"],
    [1000, "1 s"],
    [1999, "1 s"],
    [90_000, "90 s"],
    [119_999, "119 s"],
    [120_000, "2 min"],
    [2 * HOUR - 1, "119 min"],
    [2 * HOUR, "2 h"],
    [48 * HOUR - 1, "47 h"],
    [48 * HOUR, "2 days"],
    [365 * 24 * HOUR, "365 days"],
  ] as const) {
    test(`of ${ms} ms is ${text}`, () => assert.equal(durationText(ms), text));
  }
});

suite("a number of bytes in words", () => {
  for (const [bytes, text] of [
    [0, "0 bytes"],
    [1023, "1023 bytes"],
    [1024, "1 KiB"],
    [1536, "1.5 KiB"],
    [1.44 * 1024, "1.4 KiB"],
    [100.4 * 1024, "100 KiB"],
    [1024 ** 2, "1 MiB"],
    [20 * 1024 ** 3, "20 GiB"],
    [5000 * 1024 ** 4, "5000 TiB"],
  ] as const) {
    test(`of ${bytes} is ${text}`, () => assert.equal(bytesText(bytes), text));
  }
});
