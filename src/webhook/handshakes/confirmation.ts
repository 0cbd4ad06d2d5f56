import { AppError, describeError } from "../../errors.ts";
import { sendRequest } from "../../lib/send-request.ts";
import type { Log } from "../../log.ts";
import type { Content } from "../content/content.ts";
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

// The sender waits for our answer meanwhile, Amazon SNS for 15 seconds, and the intake for 8.
const TIMEOUT_MS = 6000;

const get = async (url: string) => (await sendRequest({ url, isLocal: false, timeoutMs: TIMEOUT_MS })).status;

/** Confirms the subscriptions that the options of a source name. Undefined for other handshakes. */
export function confirmOf(
  { name, handshake, options }: Source,
  { log, openUrl = get }: ConfirmationParts,
): Confirm | undefined {
  const { confirms } = handshakeOf(handshake) ?? {};
  if (!confirms) return undefined;
  return async ({ requestId, address }, content) => {
    const url = confirms.urlIn(content, options?.[confirms.option]);
    if (url === undefined) return;
    const about = { source: name, requestId, address };
    const refuse = (error: string) =>
      log.warn(
        { event: "subscription_not_confirmed", ...about, error },
        "open the URL in the event, or subscribe again",
      );
    if (url === null) return refuse("its URL is not one of the provider that confirms this subscription only");
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
