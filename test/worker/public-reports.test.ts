import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, type TestContext, test } from "node:test";
import { jsonOf, openStored } from "../../src/webhook/content/stored-content.ts";
import { createHttpHandler } from "../../src/worker/handlers/http.ts";
import { createRouting } from "../../src/worker/routing.ts";
import { compileExpression } from "../../src/worker/transform/expression.ts";
import { routeIn } from "../helpers/config-file.ts";
import { claimedJob } from "../helpers/job.ts";

/** Whether a route takes a payload. */
function takes(when: string, payload: object | string): boolean {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  const stored = { payload: Buffer.from(text), contentType: "application/json", headers: "{}" };
  const { jobsOf } = createRouting([routeIn(`{ name: a, log: {}, when: ${when} }`)], openStored);
  return jobsOf({ source: "default", type: "t" }, stored).length > 0;
}

/** A target that answers as an app does that wants its own form. It is a stand-in. */
async function standIn(t: TestContext, accepts: (body: string, headers: NodeJS.Dict<string | string[]>) => boolean) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    bodies.push(`${request.method} ${body}`);
    response.writeHead(accepts(body, request.headers) ? 200 : 400).end();
  });
  t.after(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies };
}

/** Sends a payload by a route, with what its expression makes of it. */
async function send(route: string, payload: string): Promise<void> {
  const { handler, transform } = routeIn(route, { TOKEN: "a token of the tests" });
  assert.equal(handler.kind, "http");
  const job = claimedJob({ payload: Buffer.from(payload) });
  const input = { json: jsonOf(job), event: { id: "", type: "", source: "", receivedAt: "", headers: {} } };
  const made = transform === null ? job : await compileExpression(transform)(input);
  const { run, close } = createHttpHandler(handler as Parameters<typeof createHttpHandler>[0]);
  await run({ ...job, ...made }, new AbortController().signal);
  await close();
}

suite("what people have reported elsewhere", () => {
  // https://github.com/n8n-io/n8n/issues/26925
  test("a large integer is not rounded on its way", async (t) => {
    const { url, bodies } = await standIn(t, () => true);
    await send(`{ name: a, transform: { jsonata: "{ 'id': p_id }" }, to: "${url}" }`, '{"p_id":7615917337495251231}');
    assert.deepEqual(bodies, ['POST {"id":7615917337495251231}']);
  });

  // https://github.com/kafbat/kafka-ui/issues/1922
  test("a small integer is compared with a number", () => {
    assert.equal(takes("{ price: { gt: 400 } }", { price: 450 }), true);
    assert.equal(takes("{ price: { gt: 450 } }", { price: 450 }), false);
  });

  // https://github.com/ArkEcosystem/core/issues/2881
  test("a condition that does not hold does not let an event through, and numbers may be sent as text", () => {
    assert.equal(takes("{ type: { eq: 3 }, fee: { gte: 100000000 } }", { type: 3, fee: "100000000" }), true);
    assert.equal(takes("{ type: { eq: 3 }, fee: { gte: 100000001 } }", { type: 3, fee: "100000000" }), false);
    assert.equal(takes("{ type: { eq: 3 } }", { type: 0 }), false);
  });

  // https://github.com/hook0/hook0/issues/51
  test("conditions on the status and the amount of a payment hold together", () => {
    const when = "{ all: [ { status: { eq: paid } }, { amount: { gt: 1000 } } ] }";
    assert.equal(takes(when, { status: "paid", amount: 1001 }), true);
    assert.equal(takes(when, { status: "paid", amount: 1000 }), false);
  });

  // https://github.com/RunMaestro/Maestro/pull/488
  test("what is no number is neither more nor less than one", () => {
    for (const amount of ["many", "", null, [], {}, true, "NaN", "0x10", " 5"]) {
      for (const op of ["gt", "gte", "lt", "lte"]) assert.equal(takes(`{ amount: { ${op}: 5 } }`, { amount }), false);
    }
  });

  // https://github.com/go-vikunja/vikunja/issues/2164
  test("Slack's form, which needs text, can be sent (a stand-in)", async (t) => {
    const { url, bodies } = await standIn(t, (body) => typeof JSON.parse(body).text === "string");
    await assert.rejects(send(`{ name: a, to: "${url}" }`, '{"data":{"amount":5}}'), /400/);
    await send(
      `{ name: a, transform: { jsonata: "{ 'text': 'paid ' & data.amount }" }, to: "${url}" }`,
      '{"data":{"amount":5}}',
    );
    assert.equal(bodies[1], 'POST {"text":"paid 5"}');
  });

  // https://github.com/opensearch-project/dashboards-notifications/issues/233
  test("Discord's form, which needs a media type and content, can be sent (a stand-in)", async (t) => {
    const { url, bodies } = await standIn(
      t,
      (body, headers) => headers["content-type"] === "application/json" && typeof JSON.parse(body).content === "string",
    );
    await send(`{ name: a, transform: { jsonata: "{ 'content': msg }" }, to: "${url}" }`, '{"msg":"hi"}');
    assert.equal(bodies.length, 1);
  });

  // https://github.com/nocodb/nocodb/issues/13525
  test("a header Authorization arrives (a stand-in)", async (t) => {
    const { url } = await standIn(t, (_, { authorization }) => authorization === "Bearer a token of the tests");
    await send(
      `{ name: a, http: { url: "${url}", method: PUT, headers: { Authorization: "Bearer \${env:TOKEN}" } } }`,
      "{}",
    );
  });

  // https://github.com/binwiederhier/ntfy/issues/737 and https://github.com/activepieces/activepieces/issues/3529
  test("a header with other than ASCII arrives in UTF-8 (a stand-in)", async (t) => {
    const title = "Zahlung für Müller 💶";
    const sent = Buffer.from(title).toString("latin1");
    const { url, bodies } = await standIn(t, (_, headers) => headers.title === sent);
    await send(`{ name: a, http: { url: "${url}", headers: { Title: ${title} } } }`, "{}");
    assert.equal(bodies.length, 1);
  });
});
