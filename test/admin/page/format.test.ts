import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createFormats } from "../../../src/admin/page/format.ts";
import { printable } from "../../../src/admin/page/printable.ts";

const EN = createFormats("en-GB", "UTC");
const ES = createFormats("es-ES", "UTC");
const AT = Date.UTC(2026, 0, 31, 12, 0, 5);
/** Intl puts spaces in that do not break. */
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, " ");

suite("the formats of the page", () => {
  for (const [ms, en, es] of [
    [0, "0 ms", "0 ms"],
    [999, "999 ms", "999 ms"],
    [1500, "1.5 secs", "1,5 s"],
    [59_000, "59 secs", "59 s"],
    [90_000, "1.5 mins", "1,5 min"],
    [3_600_000 * 5, "5 hrs", "5 h"],
    [86_400_000 * 12, "12 days", "12 d"],
  ] as const) {
    test(`show ${ms} ms as ${en}`, () => {
      assert.equal(plain(EN.duration(ms)), en);
      assert.equal(plain(ES.duration(ms)), es);
    });
  }

  test("show bytes in the largest unit that fits", () => {
    assert.deepEqual(
      [0, 999, 1000, 1_500_000, 19e9].map((bytes) => plain(EN.bytes(bytes))),
      ["0 bytes", "999 bytes", "1 kB", "1.5 MB", "19 GB"],
    );
  });

  test("show past and coming times relative to now", () => {
    assert.equal(EN.ago(AT - 200, AT), "now");
    assert.equal(EN.ago(AT - 61_000, AT), "1\u00a0min\u00a0ago");
    assert.equal(EN.ago(AT - 86_400_000, AT), "yesterday");
    assert.equal(plain(ES.ago(AT + 3_600_000 * 3, AT)), "dentro de 3 h");
  });

  test("show numbers and times as the language writes them", () => {
    assert.equal(EN.count(1_234_567), "1,234,567");
    assert.equal(ES.count(1_234_567), "1.234.567");
    assert.equal(plain(ES.percent(0.0525)), "5,3 %");
    assert.equal(EN.exact(AT), "31 Jan 2026, 12:00:05 UTC");
    assert.equal(EN.clock(AT), "12:00");
  });
});

suite("text of senders", () => {
  test("has its invisible characters shown, and those that turn its direction", () => {
    assert.equal(printable("abc\u202edef\u0007\u200b"), "abc\\u202edef\\u0007\\u200b");
  });

  test("keeps letters, line ends and tabs", () => {
    const text = "Núñez 🎉 عربي\n\tend";
    assert.equal(printable(text), text);
  });
});
