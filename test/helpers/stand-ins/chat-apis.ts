import * as v from "valibot";
import { type ForwardTarget, type Received, startTarget } from "../target.ts";
import type { Cleanup } from "../temp-dir.ts";

/** A stand-in for a service that takes messages: written from its public description, not the service itself. */
interface ChatApi {
  /** Its own address, without a path. */
  origin: string;
  /** The bodies of the messages that it took. */
  taken: unknown[];
  /** Answers with this instead, from now on. */
  refuse(answer: ChatAnswer): void;
}

interface ChatAnswer {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

type Take = (request: Received, body: unknown) => ChatAnswer;

async function startChatApi(t: Cleanup, take: Take): Promise<ChatApi> {
  const target: ForwardTarget = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  const taken: unknown[] = [];
  let refusal: ChatAnswer | null = null;
  target.answer((request, response) => {
    const isJson = /^application\/json(?:;|$)/.test(request.headers["content-type"] ?? "");
    const body: unknown = isJson ? JSON.parse(request.body.toString()) : undefined;
    const answer = refusal ?? take(request, body);
    if (answer.status === 200) taken.push(body);
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(answer.status === 204 ? undefined : JSON.stringify(answer.body));
  });
  return {
    origin: new URL(target.url).origin,
    taken,
    refuse(answer) {
      refusal = answer;
    },
  };
}

const telegramError = (status: number, description: string, parameters?: object): ChatAnswer => ({
  status,
  body: { ok: false, error_code: status, description, ...(parameters && { parameters }) },
});

const TelegramMessage = v.strictObject({
  chat_id: v.union([v.pipe(v.number(), v.safeInteger()), v.pipe(v.string(), v.startsWith("@"))]),
  text: v.string(),
  link_preview_options: v.strictObject({ is_disabled: v.boolean() }),
});

/** Telegram refuses a bot for a while. */
export const telegramFlood = (seconds: number) =>
  telegramError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });

/** The Bot API (https://core.telegram.org/bots/api#sendmessage) with one bot, which is a member of these chats. */
export const startTelegram = (t: Cleanup, token: string, chats: readonly (number | string)[]) =>
  startChatApi(t, ({ method, path }, body) => {
    const [, given, called] = /^\/bot([^/]+)\/([^/]+)$/.exec(path) ?? [];
    if (method !== "POST" || called !== "sendMessage") return telegramError(404, "Not Found");
    if (given !== token) return telegramError(401, "Unauthorized");
    const parsed = v.safeParse(TelegramMessage, body);
    if (!parsed.success) return telegramError(400, `Bad Request: ${parsed.issues[0].message}`);
    const { chat_id: chat, text } = parsed.output;
    if (!chats.includes(chat)) return telegramError(400, "Bad Request: chat not found");
    if (text === "") return telegramError(400, "Bad Request: message text is empty");
    if (text.length > 4096) return telegramError(400, "Bad Request: message is too long");
    return {
      status: 200,
      body: { ok: true, result: { message_id: 7, date: 1, chat: { id: 1, type: "group" }, text } },
    };
  });

const gotifyError = (errorCode: number, error: string, errorDescription: string): ChatAnswer => ({
  status: errorCode,
  body: { error, errorCode, errorDescription },
});

const GotifyMessage = v.strictObject({
  title: v.string(),
  message: v.pipe(v.string(), v.nonEmpty()),
  priority: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10)),
  extras: v.strictObject({
    "client::display": v.strictObject({ contentType: v.literal("text/plain") }),
    "client::notification": v.optional(v.strictObject({ click: v.strictObject({ url: v.pipe(v.string(), v.url()) }) })),
  }),
});

/** A server of Gotify (https://gotify.net/api-docs) below this path, with one application. */
export const startGotify = (t: Cleanup, token: string, base = "") =>
  startChatApi(t, ({ method, path, headers }, body) => {
    if (method !== "POST" || path !== `${base}/message`) return gotifyError(404, "Not Found", "page not found");
    if (headers["x-gotify-key"] !== token)
      return gotifyError(401, "Unauthorized", "you need to provide a valid access token or user credentials");
    const parsed = v.safeParse(GotifyMessage, body);
    if (!parsed.success) return gotifyError(400, "Bad Request", parsed.issues[0].message);
    const { title, message, priority, extras } = parsed.output;
    return { status: 200, body: { id: 25, appid: 5, title, message, priority, extras, date: "2027-01-15T08:00:00Z" } };
  });

const DiscordMessage = v.strictObject({
  content: v.pipe(v.string(), v.nonEmpty(), v.maxLength(2000)),
  allowed_mentions: v.strictObject({ parse: v.array(v.picklist(["roles", "users", "everyone"])) }),
});

/** Discord refuses a webhook for a while. */
export const discordLimit = (seconds: number): ChatAnswer => ({
  status: 429,
  headers: { "retry-after": String(Math.ceil(seconds)), "x-ratelimit-scope": "shared" },
  body: { message: "You are being rate limited.", retry_after: seconds, global: false },
});

/** Discord's API (https://docs.discord.com/developers/resources/webhook#execute-webhook) with one webhook, at this path. */
export const startDiscord = (t: Cleanup, webhook: string) =>
  startChatApi(t, ({ method, path }, body) => {
    const { pathname, searchParams } = new URL(path, "http://discord.test");
    if (method !== "POST" || pathname !== webhook)
      return { status: 404, body: { message: "Unknown Webhook", code: 10015 } };
    const parsed = v.safeParse(DiscordMessage, body);
    if (!parsed.success) return { status: 400, body: { message: "Invalid Form Body", code: 50035, errors: {} } };
    // Discord does not say then whether it keeps the message. This one does not.
    if (searchParams.get("wait") !== "true") return { status: 204, body: null };
    return { status: 200, body: { id: "1", type: 0, content: parsed.output.content, channel_id: "2" } };
  });
