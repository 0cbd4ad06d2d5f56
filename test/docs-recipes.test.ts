import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { boundaryIn, formatMultipart } from "../src/lib/multipart.ts";
import { FORM, MULTIPART } from "../src/webhook/content/content.ts";
import { sampleOf } from "../src/webhook/samples/index.ts";
import { readPublicKeys } from "../src/webhook/signature/public-key.ts";
import { signDelivery } from "../src/webhook/signature/sign.ts";
import type { Source } from "../src/webhook/source.ts";
import { dir, read } from "./helpers/config-file.ts";
import { servedSource } from "./helpers/serve-source.ts";
import { keyPairOf } from "./helpers/signed-sample.ts";

const SECRET = "a-secret-of-the-tests-0123456789";
const LOGIN = "ada:a password of the tests";
const VERIFY_TOKEN = "a verify token of the tests";
const JSON_TYPE = "application/json";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, name), "utf8");
const page = fixture("../docs/recipes.md");
const [rsaKey, rsaPublic] = keyPairOf("rsa");
writeFileSync(join(dir, "sns.pem"), fixture("fixtures/rsa.crt"));

/** The headings of the page with the YAML below them. */
const recipes = [...page.matchAll(/^## ([^\n]+)\n\n```yaml\n(.*?)^```$/gms)].map(([, title = "", yaml = ""]) => ({
  title,
  yaml,
}));

interface Request {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  after?: string;
}

/** What the event of a delivery must be, and what the sender gets. */
interface Wanted {
  id?: string | RegExp;
  type: string;
  status?: number;
  answer?: RegExp;
}

interface Case extends Wanted {
  request(source: Source, url: string): Request;
  /** A check of the address that precedes deliveries. */
  check?: { request: Request; status: number; answer?: RegExp; header?: [name: string, value: string] };
  /** Keys whose private ones the test has, instead of the provider's. */
  keys?: Source["keys"];
}

const bearer = { Authorization: `Bearer ${SECRET}` };
const json = (body: object, headers: Record<string, string> = {}, after = ""): Request => ({
  headers: { "Content-Type": JSON_TYPE, ...headers },
  body: JSON.stringify(body),
  after,
});
const fixed = (request: Request) => () => request;

/** The sample of the preset of a source, signed as its provider signs. */
function sampled(options: { id?: string; type?: string; secret?: string; after?: string; now?: number } = {}) {
  return (source: Source, url: string): Request => {
    const { id, type, secret = SECRET, after = "", now = Date.now() } = options;
    const sample = sampleOf(source.preset, { id, type, now });
    const { origin } = new URL(url);
    const unsigned = {
      method: "POST",
      origin,
      target: url.slice(origin.length) + after,
      headers: sample.headers,
      mediaType: sample.contentType,
      body: Buffer.from(sample.body),
    };
    const [scheme] = source.schemes;
    assert.ok(scheme);
    const { headers, body } = signDelivery(scheme, secret, unsigned, now, source.options);
    return { headers: { "Content-Type": sample.contentType, ...headers }, body, after };
  };
}

/** JSON in a field of a form with several parts. */
function inParts(field: string, body: object, headers: Record<string, string> = {}, after = ""): Request {
  const type = `${MULTIPART}; boundary=----form-7f3a`;
  const parts = formatMultipart([[field, JSON.stringify(body)]], boundaryIn(type) ?? "");
  return { headers: { "Content-Type": type, ...headers }, body: parts, after };
}

const PLAYED = { Event: "playback.start", Item: { Name: "Pilot" }, Server: { Name: "Home" } };
const BEAT = { heartbeat: { monitorID: 1, status: 0, msg: "timeout" }, monitor: { id: 1, name: "shop" }, msg: "down" };
const SHEET = {
  nonce: "4b2ed20d-6f00-4b0c-8fac-082182aa9aac",
  webhookId: 4503604829677444,
  scope: "sheet",
  events: [],
};
const PUSH = { ref: "refs/heads/main", repository: { full_name: "acme/shop" } };
const ACTIVITY = { aspect_type: "create", event_time: 1516126040, object_id: 1360128428, object_type: "activity" };
const SMS = "msisdn=447700900001&to=447700900000&messageId=0A0000000123ABCD1&text=Hello+World&type=text";

const hmac = (text: string, secret = SECRET) => createHmac("sha256", secret).update(text).digest("hex");
const TOKEN_IN_QUERY = `?token=${SECRET}`;

const form = (fields: Record<string, string>) => String(new URLSearchParams(fields));

const CASES: Record<string, Case | Case[]> = {
  Plex: { request: sampled({ type: "media.play", after: TOKEN_IN_QUERY }), type: "media.play" },
  Emby: [
    { request: fixed(inParts("data", PLAYED, {}, `/${SECRET}`)), type: "playback.start" },
    { request: fixed(json(PLAYED, {}, `/${SECRET}`)), type: "playback.start" },
  ],
  Jellyfin: {
    request: fixed({
      headers: { "Content-Type": "text/plain; charset=utf-8", ...bearer },
      body: '{"NotificationType":"ItemAdded","Overview":"two\nlines"}',
    }),
    type: "ItemAdded",
  },
  "Sonarr and Radarr": {
    check: { request: json({ eventType: "Test" }), status: 401, header: ["www-authenticate", "Basic"] },
    request: fixed({
      ...json(
        { eventType: "Download", series: { id: 1, title: "Gravity" } },
        { Authorization: `Basic ${Buffer.from(LOGIN).toString("base64")}` },
      ),
      method: "PUT",
    }),
    type: "Download",
  },
  Overseerr: {
    request: fixed(json({ notification_type: "MEDIA_PENDING", subject: "Pilot" }, { Authorization: SECRET })),
    type: "MEDIA_PENDING",
  },
  "Home Assistant": { request: fixed(json({ event: "door", state: "locked" }, bearer)), type: "door" },
  "Shelly, and others that can only call a URL": {
    request: fixed({ method: "GET", after: `/${SECRET}?event=short_push` }),
    type: "short_push",
  },
  Alertmanager: { request: sampled(), type: "firing" },
  Grafana: { request: sampled(), type: "firing" },
  "Uptime Kuma": [
    { request: fixed(json(BEAT, bearer)), type: "0" },
    { request: fixed(inParts("data", BEAT, bearer)), type: "0" },
    { request: fixed(json({ heartbeat: null, monitor: null, msg: "Testing" }, bearer)), type: "unknown" },
  ],
  "Gitea and Forgejo": [
    {
      request: fixed(
        json(PUSH, {
          "X-Gitea-Delivery": "f6266f16-1bf3-46a5-9ea4-602e06ead473",
          "X-Gitea-Event": "push",
          "X-Gitea-Signature": hmac(JSON.stringify(PUSH)),
        }),
      ),
      id: "f6266f16-1bf3-46a5-9ea4-602e06ead473",
      type: "push",
    },
    {
      // The signature of a form is that of its payload.
      request: fixed({
        headers: { "Content-Type": FORM, "X-Gitea-Event": "push", "X-Gitea-Signature": hmac(JSON.stringify(PUSH)) },
        body: form({ payload: JSON.stringify(PUSH) }),
      }),
      type: "push",
    },
  ],
  "GitHub, as a form": {
    request() {
      const body = form({ payload: JSON.stringify(PUSH) });
      const signature = `sha256=${hmac(body)}`;
      const ids = { "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958", "X-GitHub-Event": "push" };
      return { headers: { "Content-Type": FORM, "X-Hub-Signature-256": signature, ...ids }, body };
    },
    id: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    type: "push",
  },
  "Docker Hub": { request: sampled({ after: TOKEN_IN_QUERY }), id: /^sha256:/, type: "unknown" },
  "Google Pub/Sub": {
    keys: [rsaPublic],
    request: sampled({ id: "2070443601311540", secret: rsaKey }),
    id: "2070443601311540",
    type: "OBJECT_FINALIZE",
  },
  "Amazon SNS": {
    keys: [rsaPublic],
    request(source, url) {
      const topic = source.options?.topicArn ?? "";
      const sent = sampled({ id: "da41e39f-ea4d-435a-b922-c6aae3915ebe", secret: rsaKey })(source, url);
      const body = JSON.parse(String(sent.body));
      const message = { ...body, TopicArn: topic, Signature: "" };
      const unsigned = { method: "POST", origin: "", target: "", headers: {}, mediaType: JSON_TYPE };
      const [scheme] = source.schemes;
      assert.ok(scheme);
      const signed = signDelivery(
        scheme,
        rsaKey,
        { ...unsigned, body: Buffer.from(JSON.stringify(message)) },
        Date.now(),
      );
      return { headers: { "Content-Type": "text/plain; charset=UTF-8" }, body: signed.body };
    },
    id: "da41e39f-ea4d-435a-b922-c6aae3915ebe",
    type: "Notification",
  },
  Smartsheet: {
    check: {
      request: json({ challenge: "abc-1", webhookId: 1 }, { "Smartsheet-Hook-Challenge": "abc-1" }),
      status: 200,
      header: ["smartsheet-hook-response", "abc-1"],
    },
    request: fixed(json(SHEET, { "Smartsheet-Hmac-SHA256": hmac(JSON.stringify(SHEET)) })),
    type: "sheet",
  },
  Telegram: {
    request: fixed(
      json({ update_id: 10_000, message: { message_id: 1 } }, { "X-Telegram-Bot-Api-Secret-Token": SECRET }),
    ),
    id: "10000",
    type: "unknown",
  },
  WhatsApp: {
    check: {
      request: {
        method: "GET",
        after: `?${form({ "hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": VERIFY_TOKEN })}`,
      },
      status: 200,
      answer: /^1158201444$/,
    },
    request: sampled({ type: "messages" }),
    type: "messages",
  },
  Twilio: {
    request: sampled({ id: "8f7a5c1e-1b2c", type: "delivered" }),
    id: "8f7a5c1e-1b2c",
    type: "delivered",
    answer: /^<Response\/>$/,
  },
  "Vonage SMS": [
    {
      request: fixed({ method: "GET", after: `/${SECRET}?${SMS}` }),
      id: "0A0000000123ABCD1",
      type: "text",
      status: 204,
    },
    {
      request: fixed({ headers: { "Content-Type": FORM }, body: SMS, after: `/${SECRET}` }),
      id: "0A0000000123ABCD1",
      type: "text",
      status: 204,
    },
    {
      request: fixed(json({ messageId: "0A0000000123ABCD2", type: "unicode" }, {}, `/${SECRET}`)),
      id: "0A0000000123ABCD2",
      type: "unicode",
      status: 204,
    },
  ],
  Mailchimp: {
    check: { request: { method: "GET", after: TOKEN_IN_QUERY }, status: 200 },
    request: sampled({ type: "subscribe", after: TOKEN_IN_QUERY }),
    type: "subscribe",
  },
  "Apple App Store": {
    keys: [{ name: "root", mark: "", keys: readPublicKeys(fixture("fixtures/chain-root.crt")) ?? [] }],
    request: sampled({ id: "002e14d5-51f5", type: "TEST", secret: fixture("fixtures/chain.pem") }),
    id: "002e14d5-51f5",
    type: "TEST",
  },
  "Ko-fi": { request: sampled({ id: "3a1fac0c-f960" }), id: "3a1fac0c-f960", type: "Donation" },
  Patreon: { request: sampled(), type: "members:pledge:create" },
  Gumroad: { request: sampled({ id: "sale1", after: TOKEN_IN_QUERY }), id: "sale:sale1", type: "sale" },
  Strava: {
    check: {
      request: {
        method: "GET",
        after: `/${SECRET}?${form({ "hub.mode": "subscribe", "hub.challenge": "15f7d1a91c1f40", "hub.verify_token": VERIFY_TOKEN })}`,
      },
      status: 200,
      answer: /^\{"hub\.challenge":"15f7d1a91c1f40"\}$/,
    },
    request: fixed(json(ACTIVITY, {}, `/${SECRET}`)),
    type: "create",
  },
};

/** The source of a recipe. Each variable that it names is set. */
function sourceOf(yaml: string): Source {
  const names = [...yaml.matchAll(/env:(\w+)/g)].map(([, name = ""]) => name);
  const secretFor = (name: string) =>
    name.endsWith("_LOGIN") ? LOGIN : name.endsWith("_VERIFY_TOKEN") ? VERIFY_TOKEN : SECRET;
  const sources = read(yaml, Object.fromEntries(names.map((name) => [name, secretFor(name)])))?.sources ?? [];
  assert.equal(sources.length, 1);
  return sources[0] as Source;
}

suite("a recipe of the docs", () => {
  test("is tried for each sender that the page names", () => {
    assert.deepEqual(
      recipes.map(({ title }) => title),
      Object.keys(CASES).sort((one, other) => page.indexOf(`\n## ${one}\n`) - page.indexOf(`\n## ${other}\n`)),
    );
    assert.equal(recipes.length, [...page.matchAll(/^```yaml$/gm)].length);
  });

  const cases = recipes.flatMap(({ title, yaml }) =>
    [CASES[title] ?? []].flat().map((one) => ({ title, yaml, ...one })),
  );
  for (const { title, yaml, request, check, keys, id, type, status = 200, answer } of cases) {
    test(`receives from ${title}: ${type}`, async (t) => {
      const source = sourceOf(yaml);
      const { send, url, stored } = await servedSource(t, { ...source, ...(keys && { keys }) });
      const sent = ({ method = "POST", headers = {}, body, after }: Request) =>
        send({ method, headers, body } as RequestInit, after);
      if (check) {
        const checked = await sent(check.request);
        assert.equal(checked.status, check.status);
        assert.match(checked.text, check.answer ?? /^/);
        if (check.header) assert.ok(checked.headers.get(check.header[0])?.startsWith(check.header[1]));
        assert.equal(stored.length, 0);
      }
      const { status: got, text } = await sent(request(source, url));
      assert.equal(got, status);
      assert.match(text, answer ?? /^/);
      assert.equal(stored[0]?.type, type);
      const expected = typeof id === "string" ? new RegExp(`^${RegExp.escape(id)}$`) : id;
      assert.match(stored[0]?.eventId ?? "", expected ?? /^/);
      const wrong = request(source, url);
      const without = {
        ...wrong,
        headers: { "Content-Type": wrong.headers?.["Content-Type"] ?? JSON_TYPE },
        after: "",
      };
      if (!title.match(/Ko-fi|SNS|App Store/)) assert.notEqual((await sent(without)).status, status);
    });
  }
});
