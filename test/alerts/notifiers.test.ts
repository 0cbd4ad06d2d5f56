import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { alertmanagerForm } from "../../src/alerts/messages.ts";
import { createNotify, type Notifier } from "../../src/alerts/notifiers.ts";
import { alertRecord } from "../contract/alert-store.ts";
import {
  critical,
  ENVIRONMENT,
  firing,
  info,
  message,
  mockTimeout,
  NEVER,
  NOW,
  notify,
  over,
  refusalBy,
  SENDER,
} from "../helpers/notifier.ts";
import { type ForwardTarget, type Received, startTarget } from "../helpers/target.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { type Pair, pairNamed } from "../helpers/tls.ts";
import { until } from "../helpers/until.ts";

async function openTarget(t: TestContext, pair?: Pair): Promise<ForwardTarget> {
  const target = await startTarget(pair);
  t.after(() => target[Symbol.asyncDispose]());
  return target;
}

/** The one request that a target has received. */
function requestTo({ received: [request, ...others] }: ForwardTarget): Received {
  assert.ok(request);
  assert.deepEqual(others, []);
  return request;
}

const webhook = ({ url }: { url: string }, key: Uint8Array | null = null): Notifier => ({
  kind: "webhook",
  name: "pager",
  url,
  key,
});

const shell = (script: string, folder: string): Notifier => ({
  kind: "exec",
  name: "page",
  command: ["/bin/sh", "-c", script],
  folder,
});

suite("a webhook", () => {
  test("gets Alertmanager's form, named as the receiver", async (t) => {
    const target = await openTarget(t);
    await notify(webhook(target), message(firing, over), NEVER);
    const { headers, body } = requestTo(target);
    assert.deepEqual(JSON.parse(String(body)), alertmanagerForm(message(firing, over), SENDER, "pager"));
    assert.deepEqual([headers["content-type"], headers["user-agent"]], ["application/json", "authserve"]);
    assert.equal(headers["webhook-signature"], undefined);
  });

  test("gets a signature of Standard Webhooks, with the same id at every try", async (t) => {
    const target = await openTarget(t);
    const key = Buffer.from("0123456789abcdef0123456789abcdef");
    for (let i = 0; i < 2; i++) await notify(webhook(target, key), message(firing), NEVER);
    const ids = target.received.map(({ headers, body }) => {
      new Webhook(`whsec_${key.toString("base64")}`).verify(body, headers as Record<string, string>);
      return headers["webhook-id"];
    });
    assert.equal(ids.length, 2);
    assert.equal(new Set(ids).size, 1);
  });

  test("gets a signature of the time of the try", async (t) => {
    const target = await openTarget(t);
    const later = createNotify(
      SENDER,
      () => ENVIRONMENT,
      () => NOW + 5999,
    );
    await later(webhook(target, Buffer.from("key")), message(firing), NEVER);
    assert.equal(requestTo(target).headers["webhook-timestamp"], String(NOW / 1000 + 5));
  });
});

test("Slack gets a title and a line for each alert, without markup of their own", async (t) => {
  const target = await openTarget(t);
  const marked = alertRecord({ summary: "<!channel> & <http://x|y>", remedy: "a > b" });
  await notify({ kind: "slack", name: "chat", url: target.url }, message(marked, over), NEVER);
  const { headers, body } = requestTo(target);
  assert.equal(headers["content-type"], "application/json");
  assert.deepEqual(JSON.parse(String(body)), {
    text: [
      "*authserve web-1: 1 firing, 1 resolved*",
      "• warning: A sender is silent. Now: &lt;!channel&gt; &amp; &lt;http://x|y&gt;. To do: a &gt; b <https://auth.example/admin/#/sources|Open>",
      "• resolved: A sender is silent. It was: it was silent <https://auth.example/admin/#/sources|Open>",
    ].join("\n"),
  });
});

suite("ntfy", () => {
  const ntfy = ({ url }: ForwardTarget, token: string | null = null): Notifier => ({
    kind: "ntfy",
    name: "phone",
    url,
    token,
  });

  test("gets the lines as text, with a title and the token", async (t) => {
    const target = await openTarget(t);
    await notify(ntfy(target, "tk_hunter2"), message(firing, over), NEVER);
    const { headers, body } = requestTo(target);
    assert.deepEqual(
      [headers["content-type"], headers.title, headers.authorization, headers.click],
      [
        "text/plain; charset=utf-8",
        "authserve web-1: 1 firing, 1 resolved",
        "Bearer tk_hunter2",
        "https://auth.example/admin/#/sources",
      ],
    );
    assert.equal(
      String(body),
      "warning: A sender is silent. Now: the source stripe has received nothing for 2 h. To do: check the webhook at the sender\n" +
        "resolved: A sender is silent. It was: it was silent",
    );
  });

  for (const [what, alerts, priority, tags] of [
    ["a critical alert among others", [firing, critical, info], "5", "rotating_light"],
    ["a warning", [info, firing], "4", "rotating_light"],
    ["information", [info], "2", "rotating_light"],
    ["the end of an alert", [{ ...critical, resolvedAt: NOW }], "3", "white_check_mark"],
    ["the end of a critical alert beside a warning", [{ ...critical, resolvedAt: NOW }, firing], "4", "rotating_light"],
  ] as const) {
    test(`gets the priority ${priority} for ${what}`, async (t) => {
      const target = await openTarget(t);
      await notify(ntfy(target), message(...alerts), NEVER);
      const { headers } = requestTo(target);
      assert.deepEqual([headers.priority, headers.tags, headers.authorization], [priority, tags, undefined]);
    });
  }

  test("gets a title even if the host has a name that is not ASCII", async (t) => {
    const target = await openTarget(t);
    const elsewhere = createNotify({ instance: "büro-日本", url: "", page: "" }, () => ENVIRONMENT);
    await elsewhere(ntfy(target), message(firing), NEVER);
    // ntfy reads other characters as RFC 2047 has them (https://docs.ntfy.sh/publish/#message-title).
    assert.match(String(requestTo(target).headers.title), /^[\x20-\x7e]+$/);
  });
});

suite("a program", () => {
  test("gets Alertmanager's form on standard input, and the title in its environment beside the given one", async (t) => {
    const folder = tempDir(t);
    await notify(shell("cat >in.json; env >env", folder), message(firing), NEVER);
    const form = JSON.parse(readFileSync(join(folder, "in.json"), "utf8"));
    assert.equal(form.receiver, "page");
    assert.deepEqual(form, alertmanagerForm(message(firing), SENDER, form.receiver));
    const environment = readFileSync(join(folder, "env"), "utf8").split("\n");
    for (const line of [
      "GREETING=hello",
      "AUTHSERVE_ALERT_STATUS=firing",
      "AUTHSERVE_ALERT_TITLE=authserve web-1: 1 firing",
    ]) {
      assert.ok(environment.includes(line), line);
    }
  });

  test("gets the status resolved when all alerts are resolved", async (t) => {
    const folder = tempDir(t);
    await notify(shell("printf %s $AUTHSERVE_ALERT_STATUS >status", folder), message(over), NEVER);
    assert.equal(readFileSync(join(folder, "status"), "utf8"), "resolved");
  });

  test("gets its arguments without a shell", async (t) => {
    const folder = tempDir(t);
    const notifier: Notifier = { kind: "exec", name: "page", command: ["touch", "a; touch b", "$HOME"], folder };
    await notify(notifier, message(firing), NEVER);
    assert.deepEqual(
      ["a; touch b", "$HOME", "b"].map((name) => existsSync(join(folder, name))),
      [true, true, false],
    );
  });

  test("that exits with another code, or cannot be started, has failed", async (t) => {
    const folder = tempDir(t);
    await assert.rejects(notify(shell("exit 3", folder), message(firing), NEVER), /^Error: the command exited with 3$/);
    await assert.rejects(
      notify({ kind: "exec", name: "page", command: ["/no/such/program"], folder }, message(firing), NEVER),
      /^Error: the command cannot be started \(ENOENT\)$/,
    );
  });

  for (const reason of ["takes too long", "is to be stopped"]) {
    test(`that ${reason} is ended`, async (t) => {
      const { end, limitsMs } = mockTimeout(t);
      const stopping = new AbortController();
      const folder = tempDir(t);
      const sent = notify(shell("trap '' TERM; touch begun; sleep 60", folder), message(firing), stopping.signal);
      const failed = assert.rejects(sent, /^Error: the command was ended by SIGKILL$/);
      await until(() => existsSync(join(folder, "begun")));
      assert.deepEqual(limitsMs, [10_000]);
      if (reason === "takes too long") end();
      else stopping.abort();
      await failed;
    });
  }
});

suite("what is not taken fails with a text for people, without the secret URL:", () => {
  const failureOf = async (notifier: Notifier, signal?: AbortSignal) => (await refusalBy(notifier, signal)).message;

  const secretly = ({ url }: { url: string }) => webhook({ url: `${url}/hunter2?token=hunter2` });

  for (const status of [300, 302, 404, 503]) {
    test(`an answer of ${status}`, async (t) => {
      const target = await openTarget(t);
      target.answer((_, response) => void response.writeHead(status, { location: target.url }).end("hunter2"));
      assert.equal(await failureOf(secretly(target)), `the answer was ${status}`);
      assert.equal(target.received.length, 1);
    });
  }

  test("an answer that asks for a delay", async (t) => {
    const target = await openTarget(t);
    target.answer((_, response) => void response.writeHead(503, { "retry-after": "120" }).end());
    const { message: text, retryAfterMs } = await refusalBy(secretly(target));
    assert.deepEqual([text, retryAfterMs], ["the answer was 503", 120_000]);
  });

  test("no server", async () => {
    const target = await startTarget();
    await target[Symbol.asyncDispose]();
    const { host } = new URL(target.url);
    assert.equal(await failureOf(secretly(target)), `no answer (ECONNREFUSED: connect ECONNREFUSED ${host})`);
  });

  test("a connection that is closed", async (t) => {
    const target = await openTarget(t);
    target.answer((_, response) => void response.destroy());
    assert.equal(await failureOf(secretly(target)), "no answer (ECONNRESET: socket hang up)");
  });

  test("a certificate of nobody", async (t) => {
    const target = await openTarget(t, pairNamed("first"));
    assert.equal(await failureOf(secretly(target)), "no answer (DEPTH_ZERO_SELF_SIGNED_CERT: self-signed certificate)");
  });

  for (const reason of ["no answer in time", "a stop while it is sent"]) {
    test(reason, async (t) => {
      const { end, limitsMs } = mockTimeout(t);
      const stopping = new AbortController();
      const target = await openTarget(t);
      target.answer(() => {});
      const failed = failureOf(secretly(target), stopping.signal);
      await until(() => target.received.length === 1);
      assert.deepEqual(limitsMs, [10_000]);
      if (reason === "no answer in time") end();
      else stopping.abort();
      assert.equal(await failed, "no answer (no response in time)");
    });
  }

  test("a token that is no header", async (t) => {
    const { url } = await openTarget(t);
    const text = await failureOf({ kind: "ntfy", name: "phone", url, token: "hunter2\n" });
    assert.match(text, /^no answer \(ERR_INVALID_CHAR: /);
  });
});
