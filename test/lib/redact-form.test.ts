import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { redactForm } from "../../src/lib/redact-form.ts";
import { namesOfPath } from "../../src/lib/redact-json.ts";
import { growsLinearly } from "../helpers/growth.ts";

const redact = (text: string, ...paths: string[]) => redactForm(text, paths.map(namesOfPath));

const json = (value: unknown) => encodeURIComponent(JSON.stringify(value));
const GONE = "%5Bredacted%5D";

suite("a redacted form", () => {
  for (const [what, path, text, expected] of [
    ["a field", "From", "From=%2B15005550006&Body=a+b", `From=${GONE}&Body=a+b`],
    ["each field of a name", "a", "a=1&b=2&a=3&a", `a=${GONE}&b=2&a=${GONE}&a=${GONE}`],
    ["a name with escapes", "From", "F%72om=1", `F%72om=${GONE}`],
    ["a name with dots", "a.b", "a.b=1&a=2", `a.b=${GONE}&a=2`],
    [
      "a name with brackets, as its members",
      "data.email",
      "data[email]=a&data%5Bemail%5D=b&data[id]=1",
      `data[email]=${GONE}&data%5Bemail%5D=${GONE}&data[id]=1`,
    ],
    ["fields below a redacted name", "data", "data[merges][EMAIL]=a&other=1", `data[merges][EMAIL]=${GONE}&other=1`],
    [
      "fields of the items of a list",
      "items.k",
      "items[0][k]=1&items[][k]=2&items[0][n]=3",
      `items[0][k]=${GONE}&items[][k]=${GONE}&items[0][n]=3`,
    ],
    ["fields at any depth", "**.email", "email=a&x[email]=b&emails=c", `email=${GONE}&x[email]=${GONE}&emails=c`],
    [
      "a member of the JSON in a field",
      "user.name",
      `payload=${json({ user: { name: "Maria", id: 7 } })}&token=1`,
      `payload=${new URLSearchParams([["", '{"user":{"name":"[redacted]","id":7}}']]).toString().slice(1)}&token=1`,
    ],
    [
      "the same by the name of the field",
      "meta.email",
      `meta=${json({ email: "a" })}`,
      `meta=${new URLSearchParams([["", '{"email":"[redacted]"}']]).toString().slice(1)}`,
    ],
    ["nothing else", "card", "&a=%zz&b=%E9&=c&d=%7B1&", "&a=%zz&b=%E9&=c&d=%7B1&"],
  ] as const)
    test(`has replaced ${what}`, () => {
      assert.equal(redact(text, path)?.text, expected);
    });

  test("names what was removed", () => {
    const { removed } =
      redact(`a=x+y&payload=${json({ b: ["deep", 42] })}&c=${json({ d: "in JSON" })}`, "a", "b", "c") ?? {};
    assert.deepEqual(new Set(removed), new Set(["x y", "deep", "42", '{"d":"in JSON"}', "in JSON"]));
  });

  for (const [what, text] of [
    ["a payload that is broken JSON", "payload=%7B%22card%22%3A"],
    ["JSON as its name", `${json({ card: "4242" })}=`],
  ] as const)
    test(`is none if it has ${what}`, () => {
      assert.equal(redact(text, "card"), null);
    });

  test("takes no longer for each field of a large one", () => {
    growsLinearly(5000, (size) => {
      const text = "a%5Bb%5D=%20&c&".repeat(size);
      return () => void redact(text, "a.b", "**.z");
    });
  });

  test("is none with more fields than anybody sends, and may have very many redacted members", () => {
    assert.equal(redact("a&".repeat(10_001), "k"), null);
    const many = `{"k":{${'"1":1,'.repeat(119_000)}"2":1}}`;
    assert.equal(redact(`payload=${encodeURIComponent(many)}`, "k")?.removed.length, 238_002);
  });
});
