import type { Delivery, Package, Provider } from "./delivery.ts";

const UPDATE = JSON.stringify({
  update_id: 4200,
  message: { message_id: 1, date: 1, chat: { id: 1, type: "private" } },
});
const BASIC_CREDENTIALS = "authserve:a password of Chargebee";

/** Providers that send the secret itself. Nothing of the body is covered. */
export const tokens: Provider[] = [
  {
    preset: "telegram",
    package: "grammy",
    prescribedBy: "https://core.telegram.org/bots/samples",
    how: "checked",
    secret: "telegram_secret-token",
    send: (_lib, secret) => ({ headers: { "x-telegram-bot-api-secret-token": secret }, body: UPDATE }),
    accepts: telegramAccepts,
    alter: withHeader("x-telegram-bot-api-secret-token", "telegram_secret-tokem"),
  },
  {
    preset: "chargebee",
    package: "chargebee",
    how: "checked",
    secret: BASIC_CREDENTIALS,
    send: (_lib, secret) => ({ headers: { authorization: `Basic ${Buffer.from(secret).toString("base64")}` } }),
    accepts: async (lib, { headers }, secret) => {
      await lib.basicAuthValidator((user: string, password: string) => `${user}:${password}` === secret)(headers);
      return true;
    },
    alter: withHeader("authorization", `Basic ${Buffer.from(BASIC_CREDENTIALS.slice(0, -1)).toString("base64")}`),
  },
];

function withHeader(name: string, value: string): (delivery: Delivery) => Delivery {
  return (delivery) => ({ ...delivery, headers: { ...delivery.headers, [name]: value } });
}

async function telegramAccepts(lib: Package, delivery: Delivery, secretToken: string): Promise<boolean> {
  const botInfo = { id: 1, is_bot: true, first_name: "test", username: "test_bot" };
  const bot = new lib.Bot("1:unused", { botInfo });
  const { status } = await lib.webhookCallback(bot, "std/http", { secretToken })(
    new Request(delivery.url, { method: "POST", headers: delivery.headers, body: delivery.body }),
  );
  return status === 200;
}
