import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { dir } from "../helpers/config-file.ts";
import { serveSource } from "../helpers/serve-source.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

// What people reported who receive webhooks and failed with their receiver. The address of each report is beside it.

const SECRET = "a secret of the tests";
const BY_TOKEN = 'verify: { type: token, header: authorization, prefix: "Bearer " }, secrets: [env:SECRET]';
const BY_HMAC = 'verify: { header: x-signature, prefix: "sha256=" }, secrets: [env:SECRET]';
const AUTHORIZED = { Authorization: `Bearer ${SECRET}` };
const JSON_TYPE = { "Content-Type": "application/json" };
const FORM_TYPE = { "Content-Type": "application/x-www-form-urlencoded" };

writeFileSync(join(dir, "plus"), "a+plus/and=");

const hmac = (body: string | Buffer) => createHmac("sha256", SECRET).update(body).digest("hex");

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  after?: string;
}

/** Sends to a source with the secret in `Authorization`, and returns the status and what was stored. */
async function sendTo(context: Cleanup, entry: string, { method = "POST", headers = {}, body, after }: Sent) {
  const { send, stored } = await serveSource(context, `{ ${BY_TOKEN}, ${entry} }`);
  const init = { method, headers: { ...AUTHORIZED, ...headers }, ...(body !== undefined && { body }) };
  const { status } = await send(init as RequestInit, after);
  return { status, event: stored[0] };
}

/** Sends the lines of a request as they are, and returns the first line of the answer. */
async function sendRaw(url: string, lines: string[], body: string): Promise<string> {
  const { port, pathname } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  const [first, ...headers] = lines;
  socket.write([first?.replace("PATH", pathname), ...headers, "", body].join("\r\n"));
  return (await text(socket)).split("\r\n")[0] ?? "";
}

suite("the media type of a delivery", () => {
  for (const [type, report] of [
    ["application/json; charset=UTF-8", "https://github.com/jenkinsci/generic-webhook-trigger-plugin/issues/226"],
    ["application/json;charset=utf-8", "https://github.com/sendgrid/sendgrid-nodejs/issues/1193"],
    ['application/json; charset="utf-8"; q=1', "https://github.com/aws/chalice/issues/306"],
    ["Application/JSON;", "https://github.com/aws/chalice/issues/306"],
    ["application/cloudevents+json; charset=utf-8", "https://github.com/n8n-io/n8n/issues/20748"],
    ["application/hal+json", "https://github.com/n8n-io/n8n/issues/3679"],
    ["application/vnd.api+json; charset=utf-8", "https://github.com/aspnet/WebHooks/issues/83"],
  ] as const) {
    test(`may be ${type} (${report})`, async (t) => {
      const { status, event } = await sendTo(t, "type: body:event", {
        headers: { "Content-Type": type },
        body: '{"event":"made"}',
      });
      assert.deepEqual([status, event?.type], [200, "made"]);
    });
  }

  // https://github.com/n8n-io/n8n/issues/7700
  test("may be missing, if the source takes any", async (t) => {
    const { send, stored } = await serveSource(t, `{ ${BY_TOKEN}, contentTypes: ["*/*"], type: body:test }`);
    const body = Buffer.from('{"test":"ok"}');
    assert.equal((await send({ method: "POST", headers: AUTHORIZED, body })).status, 200);
    assert.equal(stored[0]?.type, "ok");
  });

  // https://github.com/rudderlabs/rudder-server/issues/1463
  test("of a form may name a charset", async (t) => {
    const headers = { "Content-Type": "application/x-www-form-urlencoded; charset=utf-8" };
    const contentTypes = "contentTypes: [application/x-www-form-urlencoded], type: body:SmsStatus";
    const { status, event } = await sendTo(t, contentTypes, { headers, body: "SmsStatus=sent&From=%2B1555" });
    assert.deepEqual([status, event?.type], [200, "sent"]);
  });
});

suite("a delivery without a body", () => {
  // https://github.com/activepieces/activepieces/issues/10067, https://github.com/home-assistant/core/issues/37580
  for (const headers of [{}, JSON_TYPE]) {
    test(`is stored ${"Content-Type" in headers ? "as JSON" : "without a media type"}`, async (t) => {
      const { status, event } = await sendTo(t, "type: header:x-event", { headers: { ...headers, "X-Event": "rang" } });
      assert.deepEqual([status, event?.type, event?.payload.length], [200, "rang", 0]);
    });
  }

  test("needs its type if it has a body, and at the source default always", async (t) => {
    assert.equal((await sendTo(t, "type: body:a", { body: Buffer.from("{}") })).status, 415);
  });

  // https://github.com/home-assistant/core/issues/19523, https://github.com/home-assistant/core/pull/56445
  test("may come by GET, and by PUT", async (t) => {
    const entry = "methods: [GET, PUT], id: body:n";
    assert.equal((await sendTo(t, entry, { method: "GET", after: "?n=7" })).event?.eventId, "7");
    assert.equal((await sendTo(t, entry, { method: "PUT", headers: JSON_TYPE, body: '{"n":8}' })).event?.eventId, "8");
  });
});

suite("JSON of a sender", () => {
  const FORMS = "contentTypes: [application/json, application/x-www-form-urlencoded, multipart/form-data]";

  for (const [what, id, body, place, report] of [
    [
      "an integer beyond 2^53",
      "1152921506151679042",
      '{"id":1152921506151679042}',
      "id",
      "webhooksite/webhook.site/issues/76",
    ],
    [
      "a large bigint in a list",
      "9123456789654321",
      '[{"record":{"id":9123456789654321}}]',
      "0.record.id",
      "supabase/supabase/issues/16147",
    ],
    ["an integer", "78632", '{"id":78632}', "id", "demian85/gnip/issues/18"],
    ["other letters", "ключ-日本-🙂", '{"id":"ключ-日本-🙂"}', "id", "github/docs/issues/3567"],
    ["a top-level list", "x", '[{"id":"x"}]', "0.id", "StackStorm/st2/issues/3955"],
  ] as const) {
    test(`may have ${what} as the id (https://github.com/${report})`, async (t) => {
      const { status, event } = await sendTo(t, `id: body:${place}`, { headers: JSON_TYPE, body });
      assert.deepEqual([status, event?.eventId], [200, id]);
    });
  }

  test("has another id for each of two integers that a number cannot tell apart", async (t) => {
    const ids = ["9007199254740993", "9007199254740992"];
    for (const id of ids) {
      const { event } = await sendTo(t, "id: body:a.id", { headers: JSON_TYPE, body: `{"a":{"id":${id}}}` });
      assert.equal(event?.eventId, id);
    }
    const body = String(new URLSearchParams({ payload: '{"id":-9007199254740993}' }));
    const { event } = await sendTo(t, `${FORMS}, id: body:id`, { headers: FORM_TYPE, body });
    assert.equal(event?.eventId, "-9007199254740993");
  });

  // https://github.com/jellyfin/jellyfin-plugin-webhook/issues/44, https://github.com/jellyfin/jellyfin-plugin-webhook/issues/217
  test("may have line ends in its strings, as templates make them", async (t) => {
    const body = '{"NotificationType":"ItemAdded","Overview":"two\n\tlines",\n"Year":2020}';
    const { status, event } = await sendTo(t, "type: body:NotificationType", { headers: JSON_TYPE, body });
    assert.deepEqual([status, event?.type, Buffer.from(event?.payload ?? []).toString()], [200, "ItemAdded", body]);
  });

  // https://github.com/opensearch-project/alerting/issues/59, https://github.com/netdata/netdata/issues/16256
  test("may have a comma behind the last item, as templates make it", async (t) => {
    const body = '{"text":"a, ]","alerts":[{"name":"disk"},\n],\n}';
    const { event } = await sendTo(t, "id: body:text, type: body:alerts.0.name", { headers: JSON_TYPE, body });
    assert.deepEqual([event?.eventId, event?.type], ["a, ]", "disk"]);
  });

  for (const [path, body, report] of [
    [
      "properties.sonar.analysis.buildnumber",
      '{"properties":{"sonar.analysis.buildnumber":"7"}}',
      "adnanh/webhook/issues/333",
    ],
    [
      "scan.report+json; version=1.0.severity",
      '{"scan":{"report+json; version=1.0":{"severity":"7"}}}',
      "adnanh/webhook/pull/526",
    ],
    [
      "resource.fields.System.State",
      '{"resource":{"fields":{"System":{"Id":1},"System.State":"7"}}}',
      "microsoft/azure-pipelines-yaml/issues/579",
    ],
  ] as const) {
    test(`may have names with dots, such as ${path} (https://github.com/${report})`, async (t) => {
      assert.equal((await sendTo(t, `type: "body:${path}"`, { headers: JSON_TYPE, body })).event?.type, "7");
    });
  }

  // https://github.com/adnanh/webhook/issues/238, https://github.com/windmill-labs/windmill/issues/2586
  test("is not needed: XML is kept as it is", async (t) => {
    const headers = { "Content-Type": "application/xml; charset=utf-8", "X-Event": "paid" };
    const entry = "contentTypes: [application/xml, text/xml], type: header:x-event";
    const { status, event } = await sendTo(t, entry, { headers, body: "<paid/>" });
    assert.deepEqual([status, event?.type, String(Buffer.from(event?.payload ?? []))], [200, "paid", "<paid/>"]);
  });

  // https://github.com/IsThereAnyDeal/IsThereAnyDeal-Issues/issues/3568
  test("may be a text", async (t) => {
    assert.equal((await sendTo(t, "dedupe: off", { headers: JSON_TYPE, body: '"pong"' })).status, 200);
  });

  // https://github.com/Brewskey/spark-server/issues/86, https://github.com/wikimedia/eventgate/pull/21
  test("may be called a form, also behind blanks", async (t) => {
    for (const body of ['{"event":"made"}', ' \r\n{"event":"made"}', '\n[{"event":"x"}]']) {
      const { status, event } = await sendTo(t, `${FORMS}, type: body:event`, { headers: FORM_TYPE, body });
      assert.deepEqual([status, event?.type], [200, body.includes("[") ? "unknown" : "made"]);
    }
  });

  // https://github.com/arabcoders/watchstate/issues/817, https://github.com/n8n-io/n8n/pull/54
  test("may be a part of a form behind a charset", async (t) => {
    const headers = { "Content-Type": "multipart/form-data; charset=utf-8; boundary=__X_PAW_BOUNDARY__" };
    const body =
      '--__X_PAW_BOUNDARY__\r\nContent-Disposition: form-data; name="data"\r\nContent-Type: application/json\r\n\r\n' +
      '{"Event":"playback.start"}\r\n--__X_PAW_BOUNDARY__--\r\n';
    const { status, event } = await sendTo(t, `${FORMS}, type: body:Event`, { headers, body });
    assert.deepEqual([status, event?.type], [200, "playback.start"]);
  });

  // https://github.com/gomfunkel/node-mailchimp/issues/6
  test("is not needed: a field in brackets has its whole name", async (t) => {
    const body = "type=subscribe&data%5Bid%5D=8a25ff1d98&data[merges][FNAME]=Ada+L";
    const { event } = await sendTo(t, `${FORMS}, id: "body:data[id]", type: "body:data[merges][FNAME]"`, {
      headers: FORM_TYPE,
      body,
    });
    assert.deepEqual([event?.eventId, event?.type], ["8a25ff1d98", "Ada L"]);
  });
});

suite("a secret", () => {
  for (const [written, report] of [
    ["a+plus/and=", "https://github.com/mattermost/mattermost-plugin-zoom/issues/296"],
    ["a%2Bplus/and=", "https://github.com/appwrite/appwrite/pull/13196"],
  ] as const) {
    test(`with a plus sign is right in the query as ${written} (${report})`, async (t) => {
      const { send } = await serveSource(t, "{ verify: { type: token, query: token }, secrets: [env:SECRET] }");
      assert.equal((await send({ method: "POST" }, `?token=${written}`)).status, 403);
      const { send: sendPlus } = await serveSource(
        t,
        "{ verify: { type: token, query: token }, secrets: [file:plus] }",
      );
      assert.equal((await sendPlus({ method: "POST" }, `?token=${written}&x=a+b`)).status, 200);
      assert.equal((await sendPlus({ method: "POST" }, "?token=a+plus/and")).status, 403);
    });
  }

  // https://github.com/norrietaylor/distillery/issues/469, https://github.com/SigNoz/signoz/pull/12890
  test("may have the scheme Bearer in any case", async (t) => {
    for (const scheme of ["bearer", "BEARER", "BeArEr"]) {
      const headers = { Authorization: `${scheme} ${SECRET}` };
      assert.equal((await sendTo(t, "dedupe: off", { headers })).status, 200);
    }
  });
});

suite("a signature", () => {
  const sign = async (context: Cleanup, body: string | Buffer, header: string, entry = BY_HMAC) => {
    const { send } = await serveSource(context, `{ ${entry} }`);
    const { status } = await send({ method: "POST", headers: { ...JSON_TYPE, "X-Signature": header }, body });
    return status;
  };

  for (const [what, body, report] of [
    ["a line end", '[{"event":"open"}]\r\n', "https://github.com/sendgrid/sendgrid-csharp/issues/1018"],
    ["U+2028", '{"ref":"\u2028724812"}', "https://github.com/jonpulice/node-shopify-auth/issues/2"],
    ["accents", '{"subject":"señal"}', "https://github.com/freescout-help-desk/freescout/issues/4351"],
    ["escapes of HTML", '{"content":"<p>\\u003c/p>"}', "https://github.com/grnhse/greenhouse-api-docs/issues/276"],
  ] as const) {
    test(`covers the bytes as they are, with ${what} (${report})`, async (t) => {
      assert.equal(await sign(t, body, `sha256=${hmac(body)}`), 200);
      assert.equal(await sign(t, body, hmac(body).toUpperCase()), 200);
      assert.equal(await sign(t, body, `sha256=${hmac(`${body} `)}`), 403);
    });
  }

  // https://github.com/adnanh/webhook/pull/355
  test("may come with that of an older secret", async (t) => {
    const entry = "verify: { header: x-signature, format: pairs, label: sha256 }, secrets: [env:SECRET]";
    const [body, other] = ['{"a":1}', "0".repeat(64)];
    assert.equal(await sign(t, body, `sha256=${other},sha256=${hmac(body)}`, entry), 200);
  });
});

suite("a request", () => {
  const BODY = '{"id":"1"}';
  const head = [`Authorization: Bearer ${SECRET}`, "Content-Type: application/json", "Connection: close", "Host: a"];

  for (const [what, lines, body, report] of [
    [
      "in chunks",
      ["POST PATH HTTP/1.1", ...head, "Transfer-Encoding: chunked"],
      `5\r\n${BODY.slice(0, 5)}\r\n5;x=y\r\n${BODY.slice(5)}\r\n0\r\n\r\n`,
      "https://github.com/bogkonstantin/android_income_sms_gateway_webhook/issues/97",
    ],
    [
      "of HTTP/1.0",
      ["POST PATH HTTP/1.0", ...head, `Content-Length: ${BODY.length}`],
      BODY,
      "https://github.com/gotenberg/gotenberg/issues/201",
    ],
    [
      "that expects 100 and does not wait",
      ["POST PATH HTTP/1.1", ...head, `Content-Length: ${BODY.length}`, "Expect: 100-continue"],
      BODY,
      "https://github.com/postmanlabs/httpbin/issues/429",
    ],
  ] as const) {
    test(`${what} is taken (${report})`, async (t) => {
      const { url, stored } = await serveSource(t, `{ ${BY_TOKEN}, id: body:id }`);
      const answer = await sendRaw(url, [...lines], body);
      assert.match(answer, /^HTTP\/1\.1 (?:100|200) /);
      assert.equal(stored[0]?.eventId, "1");
    });
  }

  // https://support.stripe.com/questions/webhooks-what-to-do-when-the-http-status-code-starts-with-a-three-(3xx),
  // https://github.com/claabs/epicgames-freegames-node/issues/303
  test("to a path with one slash more is not found, and never redirected", async (t) => {
    assert.equal((await sendTo(t, "dedupe: off", { headers: JSON_TYPE, body: BODY, after: "/" })).status, 404);
  });
});
