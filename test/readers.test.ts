import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readPath } from "../src/auth/access/path.ts";
import { textsFor } from "../src/auth/browser/texts.ts";
import { explainAuthorization, readAuthorization } from "../src/auth/clients/authorization-request.ts";
import { authenticateClient } from "../src/auth/clients/client-authentication.ts";
import { nearestRedirect } from "../src/auth/clients/redirects.ts";
import { productOf } from "../src/auth/open-session.ts";
import { createDraft } from "../src/cli/import/draft.ts";
import { readOptions } from "../src/cli/import/options.ts";
import { pathsOf } from "../src/cli/import/paths.ts";
import { importTraefikForwardAuth } from "../src/cli/import/traefik-forward-auth.ts";
import { pathOf } from "../src/http/router.ts";
import { requireEncodableType } from "../src/lib/body-headers.ts";
import { compareNumbers, numberOf, parseExactJson } from "../src/lib/exact-json.ts";
import { mediaTypeIn, trimSpace } from "../src/lib/header-value.ts";
import { parseExactTime, parseIsoTime } from "../src/lib/iso-time.ts";
import { parseStrictJson, readJsonLines, readLenientJson } from "../src/lib/json.ts";
import { boundaryIn, boundaryOf, parseMultipart } from "../src/lib/multipart.ts";
import { printable, printableLines } from "../src/lib/printable.ts";
import { redactForm } from "../src/lib/redact-form.ts";
import { redactJson } from "../src/lib/redact-json.ts";
import { readRetryAfter } from "../src/lib/retry-after.ts";
import { parseAddressList, rangesOf } from "../src/webhook/addresses/address-lists.ts";
import { openContent } from "../src/webhook/content/content.ts";
import { redacted } from "../src/webhook/content/redact.ts";
import { jsonOf } from "../src/webhook/content/stored-content.ts";
import { parseRawRequest } from "../src/webhook/held/raw-request.ts";
import { linkOf } from "../src/webhook/provider/catch-up.ts";
import recurly from "../src/webhook/providers/recurly.ts";
import { readDigests, readDraftSignature, readHttpSignatures } from "../src/webhook/signature/http-signature-fields.ts";
import { readPublicKeys } from "../src/webhook/signature/public-key.ts";
import { readSignatures } from "../src/webhook/signature/signature-items.ts";
import { parseTimestamp } from "../src/webhook/signature/timestamp.ts";
import { unmetOf } from "../src/worker/conditions.ts";
import { clientWith } from "./helpers/clients.ts";
import { processorTime } from "./helpers/growth.ts";

const SIZES = [10_000, 100_000, 1_000_000];
const FORM = "application/x-www-form-urlencoded";
const LINES = "application/x-ndjson";
const PATHS = [["a", "**", "email"], ["k"]];

const filled = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length));
const numbered = (length: number, piece: (index: number) => string) =>
  Array.from({ length: Math.ceil(length / piece(100_000).length) }, (_, index) => piece(index)).join("");
const names = (length: number) => `{${numbered(length, (index) => `"k${index}":1,`)}"a":1}`;
const items = (piece: string) => (length: number) => `{"a":[${filled(piece, length)}1]}`;
const bytes = (text: string) => Buffer.from(text);
const recurlyFormat = recurly.schemes.flatMap((scheme) => (scheme.type === "hmac" ? [scheme] : []))[0];

/** What reads a text that others choose, and such a text of a length. */
type Reader = [name: string, text: (length: number) => string, read: (text: string) => unknown];

const times = (test: object) => (text: string) =>
  unmetOf([{ on: "member", name: "t", tests: [test as never] }], { member: () => text, header: () => undefined });
const header = (name: string, read: (value: string) => unknown): Reader[] =>
  ["\t", " ,", "<", ";=", "a%41", "a ", "00"].map((piece) => [
    `${name}, ${JSON.stringify(piece)}`,
    (length) => `q${filled(piece, length)}\0;`,
    read,
  ]);

/** A text that is refused is read as well. */
const orError = (read: (text: string) => unknown) => (text: string) => {
  try {
    read(text);
  } catch {}
};

const READERS: Reader[] = [
  ["strict JSON, arrays", (n) => "[".repeat(n / 2) + "]".repeat(n / 2), (text) => parseStrictJson(bytes(text))],
  ["strict JSON, open arrays", (n) => "[".repeat(n), (text) => parseStrictJson(bytes(text))],
  ["strict JSON, objects", (n) => filled('{"a":', n), (text) => parseStrictJson(bytes(text))],
  ["strict JSON, names", names, (text) => parseStrictJson(bytes(text))],
  ["strict JSON, equal names", (n) => `{${filled('"a":1,', n)}"a":1}`, (text) => parseStrictJson(bytes(text))],
  ["strict JSON, escapes", (n) => `["${filled("\\u0041", n)}"]`, (text) => parseStrictJson(bytes(text))],
  ["strict JSON, quotes", (n) => filled('\\"', n), (text) => parseStrictJson(bytes(text))],
  ["lenient JSON, open arrays", (n) => "[".repeat(n), (text) => readLenientJson(bytes(text))],
  ["lenient JSON, commas", (n) => `[${filled(", ", n)}]`, (text) => readLenientJson(bytes(text))],
  ["lenient JSON, a comma and blanks", (n) => `[1,${" ".repeat(n)}x`, (text) => readLenientJson(bytes(text))],
  ["lenient JSON, NaN", items("NaN,"), (text) => readLenientJson(bytes(text))],
  ["lenient JSON, Infinity", items("-Infinity,"), (text) => readLenientJson(bytes(text))],
  ["lenient JSON, line ends", (n) => `["${"\n".repeat(n)}"]`, (text) => readLenientJson(bytes(text))],
  ["lenient JSON, control characters", (n) => `["${"\x01".repeat(n)}"]`, (text) => readLenientJson(bytes(text))],
  ["lenient JSON, UTF-16", (n) => "[\0".repeat(n / 2), (text) => readLenientJson(bytes(text), "utf-16le")],
  ["JSON Lines", (n) => filled("{}\n", n), (text) => readJsonLines(bytes(text))],
  ["JSON Lines, empty", (n) => filled("\n", n), (text) => readJsonLines(bytes(text))],
  ["exact JSON", items("1.00000000000000001,"), parseExactJson],
  ["a long number", (n) => "1".repeat(n), (text) => compareNumbers(numberOf(text), 1)],
  ["a number, zeros", (n) => `1.${"0".repeat(n)}1`, (text) => compareNumbers(numberOf(text), 1)],
  ["redacted JSON", items('{"email":"ab@c.de","x":1},'), (text) => redactJson(text, PATHS)],
  ["redacted JSON, names", names, (text) => redactJson(text, PATHS)],
  ["redacted JSON, names with dots", (n) => `{"${filled("a.", n)}":1}`, (text) => redactJson(text, PATHS)],
  ["redacted JSON Lines", (n) => filled('{"a":1}\n', n), (text) => redactJson(text, PATHS, { isLines: true })],
  ["redacted form, fields", (n) => filled("a[b][c]=%41&", n), (text) => redactForm(text, PATHS)],
  ["redacted form, brackets", (n) => `a${filled("[a]", n)}=1`, (text) => redactForm(text, PATHS)],
  [
    "headers beside redacted members",
    (n) => `{"k":[${numbered(n, (index) => `"aaaaab${index}",`)}1]}`,
    (text) => redacted({ redact: PATHS }, bytes(text), "application/json")?.header("a".repeat(40_000)),
  ],
  [
    "headers beside redacted members that begin as they do",
    (n) => `{"k":[${numbered(n, (index) => `"aaaaaa${index}",`)}1]}`,
    (text) => redacted({ redact: PATHS }, bytes(text), "application/json")?.header("a".repeat(40_000)),
  ],
  ["form, plus signs", (n) => `a=${"+".repeat(n)}`, (text) => openContent(bytes(text), FORM).member("b")],
  ["a set of keys", (n) => `{"keys":[${filled("{},", n)}{}]}`, orError(readPublicKeys)],
  [
    "a list of addresses",
    (n) => numbered(n, (index) => `192.${index & 255}.${(index >> 8) & 255}.1\n`),
    orError((text) => rangesOf(parseAddressList(text, ""))),
  ],
  ...["&a", "&a=1", "&", "=&", "&%41", "&%41=%41", "&+"].map(
    (piece): Reader => [
      `form, ${piece}`,
      (n) => filled(piece, n),
      (text) => openContent(bytes(text), FORM).member("b"),
    ],
  ),
  [
    "form as JSON",
    (n) => numbered(n, (index) => `k${index}=1&`),
    (text) => jsonOf({ payload: bytes(text), contentType: FORM }),
  ],
  ["JSON in a form", (n) => `payload=${"[".repeat(n)}`, (text) => openContent(bytes(text), FORM).member("b")],
  [
    "an exact member of JSON Lines that are none",
    (n) => `{"n":12345678901234567890,\n"l":[\n${filled("1,\n", n)}1]}`,
    (text) => openContent(bytes(text), LINES).exactMember("n"),
  ],
  ...["--b\r\n", "--b", "\r\n--", "--!  "].map(
    (piece): Reader => [
      `multipart, ${JSON.stringify(piece)}`,
      (n) => filled(piece, n),
      (text) => [parseMultipart(bytes(text), "multipart/form-data; boundary=b"), boundaryOf(bytes(text))],
    ],
  ),
  [
    "multipart, a header",
    (n) => `--b\r\n${filled("content-disposition:\t", n)}`,
    (text) => parseMultipart(bytes(text), "multipart/form-data; boundary=b"),
  ],
  ...['"a" ', " ", '"a', ";a=1", ";a=", '";'].map(
    (piece): Reader => [
      `an HTTP signature, ${JSON.stringify(piece)}`,
      (n) => filled(piece, n),
      (text) => [
        readHttpSignatures(`s=(${text})`, "s=:AA==:"),
        readHttpSignatures(`s=()${text}`, `s=:${text}:`),
        readDraftSignature(`keyId="a",headers="${text}"`),
        readDigests("digest", text),
      ],
    ],
  ),
  ["a time, zeros", (n) => `2026-01-01T00:00:00.${"0".repeat(n)}1Z`, parseExactTime],
  ["a time, digits", (n) => `2026-01-01T${"0".repeat(n)}x`, parseIsoTime],
  [
    "a condition eq",
    (n) => `2026-01-01T00:00:00.${"0".repeat(n)}1Z`,
    times({ op: "eq", value: "2026-01-01T00:00:00Z" }),
  ],
  [
    "a condition gte",
    (n) => `2026-01-01T00:00:00.${"0".repeat(n)}1Z`,
    times({ op: "gte", value: "2026-01-01T00:00:00Z" }),
  ],
  ["a condition lt", (n) => `${"1".repeat(n)}.`, times({ op: "lt", value: 1 })],
  ...header("Accept-Language", textsFor),
  ...header("User-Agent", productOf),
  ...header("Link", (value) => linkOf(value, "next")),
  ...header("Retry-After", (value) => readRetryAfter(value, 0)),
  ...header("a media type", (value) => [mediaTypeIn(value), boundaryIn(value), trimSpace(value)]),
  ...header("a signature", (value) => recurlyFormat && readSignatures(recurlyFormat, [value])),
  ...header("a time of a signature", (value) => parseTimestamp(value, "iso")),
  ...header("a kept request", (value) => parseRawRequest(bytes(`POST / HTTP/1.1\nname: ${value}\n\n`))),
  ...header("text in a terminal", (value) => [printable(value), printableLines(value)]),
  ...header("Content-Type", (value) => {
    try {
      requireEncodableType({ headers: { "content-type": value }, rawHeaders: [] }, ["application/json"]);
    } catch {}
  }),
  ...header("Authorization of a client", (value) =>
    authenticateClient([`Basic ${value}`], readAuthorization(""), [clientWith()]),
  ),
  ...["&state", "&", "=", "%41", "+", "/"].map(
    (piece): Reader => [
      `an authorization request, ${piece}`,
      (n) => `client_id=grafana&redirect_uri=https:${filled(piece, n)}`,
      (text) => [explainAuthorization(readAuthorization(text), [clientWith()]), nearestRedirect(["https://a/b"], text)],
    ],
  ),
  ["a path", (n) => filled("/%2525", n), readPath],
  ["a path, dots", (n) => filled("/..;", n), readPath],
  ["options of another product", (n) => numbered(n, (index) => `A${index}=b # c\n`), (text) => readOptions(text, /x/)],
  ["an option after blanks", (n) => `A=${" ".repeat(n)}b\u2028c`, (text) => readOptions(text, /x/)],
  ...['"a", ', '"\\"', "'", "a\n", "#]"].map(
    (piece): Reader => [
      `a list of options, ${JSON.stringify(piece)}`,
      (n) => `A=[${filled(piece, n)}`,
      (text) => readOptions(text, /x/),
    ],
  ),
  ...["{A", "A", "{A:-b}", "${"].map(
    (piece): Reader => [
      `variables of a compose file, $${piece}`,
      (n) => `services: { x: { image: x, command: ['${filled(`$${piece}`, n)}'] } }`,
      (text) => readOptions(text, /x/),
    ],
  ),
  ...['\\"', "'\"", "--a b "].map(
    (piece): Reader => [
      `words of a command, ${piece}`,
      (n) => `services: { x: { image: x, command: ${JSON.stringify(filled(piece, n))} } }`,
      (text) => readOptions(text, /x/),
    ],
  ),
  ...["Host(`a`) && ", "Host(`a`) || ", "`a`,", "Host(`"].map(
    (piece): Reader => [
      `a rule, ${piece}`,
      (n) => `rule.a.rule=Host(${filled(piece, n)}`,
      (text) => importTraefikForwardAuth(text, createDraft()),
    ],
  ),
  ["a pattern of paths", (n) => filled("(a|b)", n), pathsOf],
  ["a target", (n) => `http://${"a".repeat(n)}`, pathOf],
];

// No reader is so slow that this is a square of its length.
const LEAST_MICROSECONDS = 100_000;
const TRIES = 3;

// Of quadratic work, ten times as much takes a hundred times as long.
const isLinear = (spent: readonly number[]) =>
  spent.every((now, index) => index === 0 || now < Math.max(40 * (spent[index - 1] ?? 0), LEAST_MICROSECONDS));

suite("what reads texts of others takes time in proportion to their length", () => {
  for (const [name, textOf, read] of READERS)
    test(name, (context) => {
      let spent: number[] = [];
      // Collecting garbage falls into one of the times by chance. Quadratic work is slow each time.
      for (let tries = 0; tries < TRIES && (tries === 0 || !isLinear(spent)); tries++) {
        spent = [];
        for (const size of SIZES) {
          const text = textOf(size);
          spent.push(processorTime(() => read(text)));
          if (!isLinear(spent)) break;
        }
      }
      const figures = spent.map((µs, index) => `${SIZES[index]} in ${Math.round(µs)} µs`).join(", ");
      assert.ok(isLinear(spent), figures);
      context.diagnostic(`${name}: ${figures}`);
    });
});
