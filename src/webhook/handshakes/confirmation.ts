import { AppError, describeError } from "../../errors.ts";
import { sendRequest } from "../../lib/send-request.ts";
import type { Log } from "../../log.ts";
import type { Content } from "../intake/content.ts";
import type { Source } from "../source.ts";
import { handshakeOf } from "./kinds.ts";

/** What confirms subscriptions. */
export interface ConfirmationParts {
  log: Log;
  /** Sends a GET without following redirects, and returns the status of the answer. */
  openUrl?(url: string): Promise<number>;
}

/** Confirms the subscription that a genuine delivery asks for, if it does. Throws `intake_paused` to be asked again. */
type Confirm = (request: { requestId: string; address: string }, content: Content) => Promise<void>;

const RETRY_SECONDS = 20;

// Amazon SNS waits 15 seconds for our answer, and the intake 8 for this one.
const TIMEOUT_MS = 6000;

const get = async (url: string) => (await sendRequest({ url, isLocal: false, timeoutMs: TIMEOUT_MS })).status;

/** Confirms subscriptions of Amazon SNS to the topic of the source. Undefined for other handshakes. */
export function confirmOf(
  { name, handshake, options }: Source,
  { log, openUrl = get }: ConfirmationParts,
): Confirm | undefined {
  if (!handshakeOf(handshake)?.confirms) return undefined;
  return async ({ requestId, address }, content) => {
    if (content.member("Type") !== "SubscriptionConfirmation") return;
    const about = { source: name, requestId, address };
    const refuse = (error: string) =>
      log.warn(
        { event: "subscription_not_confirmed", ...about, error },
        "open the SubscribeURL of the event, or subscribe again",
      );
    const url = content.member("SubscribeURL");
    if (!isConfirmationUrl(url, options?.topicArn)) return refuse("its SubscribeURL is not one of Amazon SNS");
    const status = await openUrl(url).catch((error: unknown) => {
      refuse(describeError(error));
      return 0;
    });
    if (status === 200) return log.info({ event: "subscription_confirmed", ...about }, "confirmed a subscription");
    if (status > 0) refuse(`the answer was ${status}`);
    if (status === 0 || status >= 500)
      throw new AppError("intake_paused", { reason: "subscription_not_confirmed", retryAfterSeconds: RETRY_SECONDS });
  };
}

const HOST = /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(?:\.cn)?$/;

/** Whether a URL confirms a subscription to a topic at Amazon SNS, and does nothing else. */
export function isConfirmationUrl(text: unknown, topicArn: string | undefined): text is string {
  const url = typeof text === "string" ? URL.parse(text) : null;
  if (url === null || url.protocol !== "https:" || !HOST.test(url.host)) return false;
  const { username, password, pathname, searchParams } = url;
  const isPlain = username === "" && password === "" && pathname === "/";
  const actions = searchParams.getAll("Action");
  const topics = searchParams.getAll("TopicArn");
  return isPlain && actions.join() === "ConfirmSubscription" && topics.join() === topicArn;
}
