import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { NOTIFIER_LINES, notifyLines } from "../../../src/admin/page/setup/notifier-lines.ts";
import { KINDS } from "../../../src/config/file/notifiers.ts";
import { read } from "../../helpers/config-file.ts";

/** Values in the place of what a person puts there. */
const VALUES: Record<string, string> = {
  NTFY_URL: "https://ntfy.sh/my-topic",
  SLACK_WEBHOOK_URL: "https://hooks.slack.test/services/T/B/x",
  DISCORD_WEBHOOK_URL: "https://discord.test/api/webhooks/1/x",
  TELEGRAM_TOKEN: "123456:ABC-DEF",
};

suite("the lines of a notifier, as the page shows them", () => {
  test("are there for every kind", () => {
    assert.deepEqual(Object.keys(NOTIFIER_LINES).sort(), [...KINDS].sort());
  });

  for (const [kind, lines] of Object.entries(NOTIFIER_LINES))
    test(`are a notifier: ${kind}`, () => {
      const names = lines.env.map((line) => line.replace(/='.*'$/, ""));
      const values = names.map((name) => [name, VALUES[name] ?? "a secret of the tests, a long one"]);
      const notifiers = read(`${notifyLines(lines)}\n`, Object.fromEntries(values))?.alerts.notifiers;
      assert.deepEqual(
        notifiers?.map((notifier) => notifier.kind),
        [kind],
      );
    });
});
