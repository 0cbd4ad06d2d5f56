import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import type { Notifier } from "../../src/alerts/notifiers.ts";
import { alertRecord } from "../contract/alert-store.ts";
import { firing, message, NEVER, notify, over, refusalBy } from "../helpers/notifier.ts";
import { startTelegram, telegramFlood } from "../helpers/stand-ins/chat-apis.ts";

const TOKEN = "123456:hunter2-hunter2";
const GROUP = -1_001_234_567_890;

async function open(t: TestContext) {
  const api = await startTelegram(t, TOKEN, [GROUP, "@alerts"]);
  const notifier: Notifier = { kind: "telegram", name: "chat", url: api.origin, token: TOKEN, chat: GROUP };
  return { ...api, notifier };
}

suite("Telegram", () => {
  test("gets the title, and each alert with its link, as text without markup", async (t) => {
    const { notifier, taken } = await open(t);
    const marked = alertRecord({ summary: "*a* <b>", remedy: "[x](http://y.test)" });
    await notify(notifier, message(marked, over), NEVER);
    assert.deepEqual(taken, [
      {
        chat_id: GROUP,
        text: [
          "authserve web-1: 1 firing, 1 resolved",
          "",
          "warning: A sender is silent. Now: *a* <b>. To do: [x](http://y.test)",
          "https://auth.example/admin/#/sources",
          "",
          "resolved: A sender is silent. It was: it was silent",
          "https://auth.example/admin/#/sources",
        ].join("\n"),
        link_preview_options: { is_disabled: true },
      },
    ]);
  });

  test("gets a message for a channel by its name, from a server of one's own", async (t) => {
    const { notifier, taken, origin } = await open(t);
    await notify({ ...notifier, url: `${origin}/`, chat: "@alerts" } as Notifier, message(firing), NEVER);
    assert.equal(taken.length, 1);
  });

  test("gets the beginning of a message that is too long", async (t) => {
    const { notifier, taken } = await open(t);
    const many = Array.from({ length: 100 }, (_, n) => alertRecord({ summary: `source ${n} 😀` }));
    await notify(notifier, message(...many), NEVER);
    const [{ text }] = taken as [{ text: string }];
    assert.match(text, /\nhttps:\S+\n+…$/);
    assert.ok(text.length > 3500);
  });

  for (const [what, changes, error] of [
    ["another bot", { token: "123456:hunter2" }, "the answer was 401 (Unauthorized)"],
    ["a chat that the bot is not in", { chat: 7 }, "the answer was 400 (Bad Request: chat not found)"],
  ] as const) {
    test(`refuses ${what}, and says why`, async (t) => {
      const { notifier } = await open(t);
      const refusal = await refusalBy({ ...notifier, ...changes } as Notifier);
      assert.deepEqual([refusal.message, refusal.retryAfterMs], [error, 0]);
    });
  }

  test("says how long a bot that writes too much has to wait", async (t) => {
    const { notifier, refuse } = await open(t);
    refuse(telegramFlood(14));
    const { message: text, retryAfterMs } = await refusalBy(notifier);
    assert.deepEqual([text, retryAfterMs], ["the answer was 429 (Too Many Requests: retry after 14)", 14_000]);
  });

  for (const [what, body, why] of [
    ["ok: false", { ok: false, description: "Internal\nerror" }, "Internal\\u{a}error"],
    ["the secret path", { ok: false, description: `no /bot${TOKEN}/sendMessage` }, "no /bot…/sendMessage"],
    ["another object", { error: "not found" }, "not one of the Bot API"],
    ["no object", null, "not one of the Bot API"],
  ] as const) {
    test(`has not taken a message if it answers with ${what}, whatever the status`, async (t) => {
      const { notifier, refuse } = await open(t);
      refuse({ status: 200, body });
      assert.equal((await refusalBy(notifier)).message, `the answer was 200 (${why})`);
    });
  }
});
