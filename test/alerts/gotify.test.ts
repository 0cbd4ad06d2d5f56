import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createNotify, type Notifier } from "../../src/alerts/notifiers.ts";
import { critical, firing, info, message, NEVER, NOW, notify, over, refusalBy } from "../helpers/notifier.ts";
import { startGotify } from "../helpers/stand-ins/chat-apis.ts";

const TOKEN = "A.hunter2";

const gotify = (url: string, token = TOKEN): Notifier => ({ kind: "gotify", name: "phone", url, token });

suite("Gotify", () => {
  test("gets the title, the alerts as plain text, and the link to open", async (t) => {
    const { origin, taken } = await startGotify(t, TOKEN);
    await notify(gotify(origin), message(firing, over), NEVER);
    assert.deepEqual(taken, [
      {
        title: "authserve web-1: 1 firing, 1 resolved",
        message: [
          "warning: A sender is silent. Now: the source stripe has received nothing for 2 h. To do: check the webhook at the sender",
          "https://auth.example/admin/#/sources",
          "",
          "resolved: A sender is silent. It was: it was silent",
          "https://auth.example/admin/#/sources",
        ].join("\n"),
        priority: 5,
        extras: {
          "client::display": { contentType: "text/plain" },
          "client::notification": { click: { url: "https://auth.example/admin/#/sources" } },
        },
      },
    ]);
  });

  test("gets no link without an admin page", async (t) => {
    const { origin, taken } = await startGotify(t, TOKEN);
    const elsewhere = createNotify({ instance: "web-1", url: "", page: "" }, () => ({}));
    await elsewhere(gotify(origin), message(over), NEVER);
    const [{ extras, message: text }] = taken as [{ extras: object; message: string }];
    assert.deepEqual(extras, { "client::display": { contentType: "text/plain" } });
    assert.equal(text, "resolved: A sender is silent. It was: it was silent");
  });

  for (const [what, alerts, priority] of [
    ["a critical alert among others", [firing, critical, info], 8],
    ["a warning", [info, firing], 5],
    ["information", [info], 2],
    ["the end of an alert", [{ ...critical, resolvedAt: NOW }], 4],
  ] as const) {
    test(`gets the priority ${priority} for ${what}`, async (t) => {
      const { origin, taken } = await startGotify(t, TOKEN);
      await notify(gotify(origin), message(...alerts), NEVER);
      assert.deepEqual(
        (taken as { priority: number }[]).map((one) => one.priority),
        [priority],
      );
    });
  }

  for (const path of ["/", "/gotify", "/gotify/"]) {
    test(`is found at ${path} of its host`, async (t) => {
      const { origin, taken } = await startGotify(t, TOKEN, path.replace(/\/$/, ""));
      await notify(gotify(origin + path), message(firing), NEVER);
      assert.equal(taken.length, 1);
    });
  }

  test("refuses another token", async (t) => {
    const { origin, taken } = await startGotify(t, TOKEN);
    assert.equal((await refusalBy(gotify(origin, "C.hunter2"))).message, "the answer was 401");
    assert.deepEqual(taken, []);
  });
});
