import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import type { Notifier } from "../../src/alerts/notifiers.ts";
import { alertRecord } from "../contract/alert-store.ts";
import { firing, message, NEVER, notify, over, refusalBy } from "../helpers/notifier.ts";
import { discordLimit, startDiscord } from "../helpers/stand-ins/chat-apis.ts";

const WEBHOOK = "/api/webhooks/223704706495545344/hunter2";

async function open(t: TestContext) {
  const api = await startDiscord(t, WEBHOOK);
  const discord = (path = WEBHOOK): Notifier => ({ kind: "discord", name: "chat", url: api.origin + path });
  return { ...api, discord };
}

/** The text of the one message that Discord took. */
function textIn(taken: readonly unknown[]): string {
  assert.equal(taken.length, 1);
  return (taken[0] as { content: string }).content;
}

suite("Discord", () => {
  test("gets the title, and a line for each alert, which mentions nobody", async (t) => {
    const { discord, taken } = await open(t);
    await notify(discord(), message(firing, over), NEVER);
    assert.deepEqual(taken, [
      {
        content: [
          "**authserve web-1: 1 firing, 1 resolved**",
          "• warning: A sender is silent. Now: the source stripe has received nothing for 2 h. To do: check the webhook at the sender <https://auth.example/admin/#/sources>",
          "• resolved: A sender is silent. It was: it was silent <https://auth.example/admin/#/sources>",
        ].join("\n"),
        allowed_mentions: { parse: [] },
      },
    ]);
  });

  for (const [what, summary, shown] of [
    ["mentions", "@everyone <@1> <#2> <@&3>", "\\@everyone \\<\\@1\\> \\<\\#2\\> \\<\\@&3\\>"],
    ["emphasis", "*a* _b_ ~~c~~ ||d|| `e` \\", "\\*a\\* \\_b\\_ \\~\\~c\\~\\~ \\|\\|d\\|\\| \\`e\\` \\\\"],
    ["links", "[a](https://b.test/c_d)", "\\[a\\](https\\://b.test/c\\_d)"],
    ["lines", "a\n# b\r\n- c\n> d", "a \\# b - c \\> d"],
  ] as const) {
    test(`shows ${what} of a summary as they are`, async (t) => {
      const { discord, taken } = await open(t);
      await notify(discord(), message(alertRecord({ summary, resolvedAt: 1 })), NEVER);
      const [, line = ""] = textIn(taken).split("\n");
      assert.equal(line.replace(/ <https.*$/, ""), `• resolved: A sender is silent. It was: ${shown}`);
    });
  }

  test("gets the first alerts of a message that is too long", async (t) => {
    const { discord, taken } = await open(t);
    const many = Array.from({ length: 100 }, (_, n) => alertRecord({ summary: `source ${n} 😀` }));
    await notify(discord(), message(...many), NEVER);
    assert.match(textIn(taken), /sources>\n…$/);
  });

  for (const begin of ["a", "ab"]) {
    test(`gets no half of a character, if ${begin} is before a long text`, async (t) => {
      const { discord, taken } = await open(t);
      await notify(discord(), message(alertRecord({ summary: begin + "😀".repeat(2000) })), NEVER);
      const text = textIn(taken);
      assert.match(text, /😀…$/u);
      assert.ok(text.isWellFormed());
      assert.ok(text.length >= 1999);
    });
  }

  test("gets a message for a thread", async (t) => {
    const { discord, taken } = await open(t);
    await notify(discord(`${WEBHOOK}?thread_id=7`), message(firing), NEVER);
    assert.equal(taken.length, 1);
  });

  test("refuses a webhook that was removed", async (t) => {
    const { discord } = await open(t);
    assert.equal((await refusalBy(discord("/api/webhooks/1/hunter2"))).message, "the answer was 404");
  });

  test("says how long a webhook that gets too much has to wait", async (t) => {
    const { discord, refuse } = await open(t);
    refuse(discordLimit(64.57));
    const { message: text, retryAfterMs } = await refusalBy(discord());
    assert.deepEqual([text, retryAfterMs], ["the answer was 429", 65_000]);
  });
});
