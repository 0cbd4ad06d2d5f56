import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { namesOfPath, redactJson } from "../../src/lib/redact-json.ts";
import { growsLinearly } from "../helpers/growth.ts";

const redact = (text: string, ...paths: string[]) => redactJson(text, paths.map(namesOfPath))?.text;

suite("redacted JSON", () => {
  for (const [what, path, text, expected] of [
    ["a member", "card", '{"card": 4242, "id":1}', '{"card": "[redacted]", "id":1}'],
    [
      "a member of a member",
      "data.card",
      '{"card":1,"data":{"card":{"n":"}"}}}',
      '{"card":1,"data":{"card":"[redacted]"}}',
    ],
    [
      "members at any depth",
      "data.**.email",
      '{"email":"a","data":{"email":"b","x":{"email":["c"]}}}',
      '{"email":"a","data":{"email":"[redacted]","x":{"email":"[redacted]"}}}',
    ],
    [
      "members under any one name",
      "*.k",
      '{"k":1,"a":{"k":2,"b":{"k":3}}}',
      '{"k":1,"a":{"k":"[redacted]","b":{"k":3}}}',
    ],
    [
      "each item of a list",
      "items.k",
      '{"items":[{"k":1},[{"k":2}]]}',
      '{"items":[{"k":"[redacted]"},[{"k":"[redacted]"}]]}',
    ],
    ["one item of a list", "items.1", '{"items":[1,2,3]}', '{"items":[1,"[redacted]",3]}'],
    ["a name with dots", "a.b", '{"a.b":1,"a":{"b":2}}', '{"a.b":"[redacted]","a":{"b":"[redacted]"}}'],
    ["a name with escapes", "card", '{"c\\u0061rd":1}', '{"c\\u0061rd":"[redacted]"}'],
    ["each of several members of one name", "a", '{"a":1,"a":2}', '{"a":"[redacted]","a":"[redacted]"}'],
    [
      "the digits of the others",
      "a",
      '{"a":1,"b":1.0000000000000000001}',
      '{"a":"[redacted]","b":1.0000000000000000001}',
    ],
    ["nothing that is missing", "a.b.c", '{"a":{"b":"c"}}', '{"a":{"b":"c"}}'],
  ] as const)
    test(`replaces, or keeps, ${what}`, () => assert.equal(redact(text, path), expected));

  // What people have reported of other programs.
  for (const [report, path, text] of [
    ["https://github.com/davidmarkclements/fast-redact/issues/57", "*.*.*.pan", '{"1":{"2":{"3":{"pan":"SECRET"}}}}'],
    [
      "https://github.com/davidmarkclements/fast-redact/issues/27",
      "creditcards.tokens.tokenValue",
      '{"creditcards":[{"amount":0,"tokens":[{"tokenValue":"SECRET"}]}]}',
    ],
    ["https://github.com/dahlia/logtape/issues/94", "**.password", '{"configs":[{"password":"SECRET"}]}'],
    [
      "https://github.com/pinojs/redact/issues/25",
      "*.samples.*.runId",
      '[{"a":{"samples":[{"b":{"runId":"SECRET"}}]}}]',
    ],
    ["https://github.com/pinojs/pino/issues/1392", "**.my_secret", '{"my_secret":"SECRET","a":{"my_secret":"SECRET"}}'],
    [
      "https://github.com/phash/praxiszeit/issues/129",
      "data.**.customer_details",
      '{"data":{"object":{"customer_details":{"name":"SECRET"}}}}',
    ],
  ] as const)
    test(`has no text of ${report}`, () => assert.doesNotMatch(redact(text, path) ?? "SECRET", /SECRET/));

  test("is none of what is no JSON", () => {
    for (const text of ["", "a=b", "<a/>", '{"a":1,}', '{"a":1} {"a":2}']) assert.equal(redact(text, "a"), undefined);
  });

  test("has all values of JSON Lines", () => {
    const lines = '{"a":1}\n\n{"b":[1],"a":"\\n"}\n';
    assert.deepEqual(redactJson(lines, [["a"]], { isLines: true }), {
      text: '{"a":"[redacted]"}\n\n{"b":[1],"a":"[redacted]"}\n',
      removed: ["1", "\n"],
    });
    assert.equal(redactJson('{"a":1}\nno', [["a"]], { isLines: true }), null);
  });

  test("tells the texts that it has lost", () => {
    const found = redactJson('{"a":{"b":["x",{"c":12}],"d":true}}', [["a"]]);
    assert.deepEqual(found?.removed.toSorted(), ["12", "x"]);
    // JavaScript holds fewer digits than a card number may have. A name may be an address.
    const card = redactJson('{"a":[6304000000000000001,1.10],"b":{"name":1,"ada@example.com":2}}', [["a"], ["b"]]);
    assert.deepEqual(card?.removed.toSorted(), ["1", "1.10", "2", "6304000000000000001", "ada@example.com"]);
  });

  test("takes no longer for each byte of a deep one", () => {
    growsLinearly(700, (depth) => {
      const deep = `${'[{"a":'.repeat(depth)}1${"}]".repeat(depth)}`;
      return () => void redact(deep, "**.email", "a.**.b.**.c");
    });
  });
});
