import assert from "node:assert/strict";
import { suite, test } from "node:test";
import pageEn from "../../src/admin/page/texts/en.json" with { type: "json" };
import pageEs from "../../src/admin/page/texts/es.json" with { type: "json" };
import loginEn from "../../src/auth/browser/texts/en.json" with { type: "json" };
import loginEs from "../../src/auth/browser/texts/es.json" with { type: "json" };
import { readTexts } from "../../src/lib/texts.ts";

const FILE = {
  title: "Jobs",
  group: { "took(duration)": "took {duration}" },
  "jobs(count)": { one: "{count} job", other: "{count} jobs" },
  "between(from, to)": "{from} to {to}, {from}",
};

suite("texts", () => {
  test("are strings, or functions of what their name lists", () => {
    const texts = readTexts<typeof FILE>(FILE, { locale: "en-GB" });
    assert.equal(texts.title, "Jobs");
    assert.equal(texts.group.took("1 s"), "took 1 s");
    assert.equal(texts.between(1, 2), "1 to 2, 1");
    assert.equal(texts.group.took("{duration} $&"), "took {duration} $&");
  });

  test("have the plural of the language, and its numbers", () => {
    const { format } = new Intl.NumberFormat("en-GB");
    const { jobs } = readTexts<typeof FILE>(FILE, { locale: "en-GB", numberText: format });
    assert.deepEqual([0, 1, 2000].map(jobs), ["0 jobs", "1 job", "2,000 jobs"]);
    // Spanish has a category of its own for millions.
    assert.equal(readTexts<typeof FILE>(FILE, { locale: "es-ES" }).jobs(1_000_000), "1000000 jobs");
  });

  for (const [name, file] of Object.entries({ pageEn, pageEs, loginEn, loginEs }))
    test(`of ${name} use the values that their names list`, () => assert.deepEqual(faultsOf(file), []));
});

/** The texts that are not as the names of their values say. */
function faultsOf(group: object): string[] {
  return Object.entries(group).flatMap(([key, text]) => {
    const [, list = ""] = /^\w+\((.+)\)$/.exec(key) ?? [];
    if (/^server/.test(key)) return [];
    if (typeof text === "object" && list === "") return faultsOf(text);
    const listed = list.split(", ");
    return (typeof text === "string" ? [text] : Object.values(text as object))
      .filter((form: string) => [...form.matchAll(/\{(\w+)\}/g)].some(([, value = ""]) => !listed.includes(value)))
      .map((form) => `${key}: ${form}`);
  });
}
