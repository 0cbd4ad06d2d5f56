import { DAY_MS } from "../../lib/durations.ts";
import { type CatchUpAdapter, type ListedAttempt, listOf, memberOf, textAt, timeOf } from "../provider/catch-up.ts";
import { provider, says } from "../provider.ts";
import { standardSchemes } from "../signature/signing.ts";

/** The attempts' numbers for their status. */
const OUTCOMES: readonly ListedAttempt["outcome"][] = ["delivered", "pending", "failed", "pending"];

/**
 * Svix lists every attempt of an endpoint, and repeats a message to it when asked. The id of a message is that of its
 * deliveries. While an endpoint is disabled, as after failures for five days, Svix attempts nothing: such messages are
 * delivered when asked for together. Servers of one's own have the same API without that.
 */
const catchUp: CatchUpAdapter = {
  hosts: [
    "api.svix.com",
    "api.us.svix.com",
    "api.eu.svix.com",
    "api.in.svix.com",
    "api.ca.svix.com",
    "api.au.svix.com",
  ],
  hook: {
    pattern: /^\/api\/v1\/app\/[^/]+\/endpoint\/[^/]+$/,
    example: "https://api.us.svix.com/api/v1/app/APP_ID/endpoint/ENDPOINT_ID",
  },
  token: "a token of the Svix API for the application",
  keepsMs: 90 * DAY_MS,
  docs: "https://api.svix.com/docs#tag/Message-Attempt",
  async open({ hook, token }, send) {
    const headers = { authorization: `Bearer ${token}` };
    const isDisabled = memberOf((await send({ url: hook ?? "", headers })).json, "disabled") === true;
    if (isDisabled) throw new Error("the endpoint is disabled at Svix: enable it there, and catch up again");
    const [app = "", endpoint = ""] = (hook ?? "").split("/endpoint/");
    let listUrl = "";
    return {
      firstPage(from) {
        const after = encodeURIComponent(new Date(from).toISOString());
        listUrl = `${app}/attempt/endpoint/${endpoint}?limit=100&with_content=false&after=${after}`;
        return { url: listUrl, headers };
      },
      readPage({ json }) {
        const iterator = textAt(json, "iterator");
        const isDone = memberOf(json, "done") === true || iterator === null;
        return {
          listed: listOf(memberOf(json, "data")).map(listedOf),
          next: isDone ? null : { url: `${listUrl}&iterator=${encodeURIComponent(iterator)}`, headers },
        };
      },
      redeliver: ({ id }) => ({
        url: `${app}/msg/${encodeURIComponent(id)}/endpoint/${endpoint}/resend`,
        method: "POST",
        headers,
      }),
      deliverUntried: (from) => ({
        url: `${hook}/replay-missing`,
        headers,
        body: JSON.stringify({ since: new Date(from).toISOString() }),
      }),
    };
  },
};

function listedOf(attempt: unknown): ListedAttempt {
  const message = textAt(attempt, "msgId") ?? "";
  const outcome = OUTCOMES[Number(textAt(attempt, "status"))] ?? "unknown";
  return { item: message, id: message, at: timeOf(textAt(attempt, "timestamp")), outcome, eventId: message };
}

export default provider({
  title: "Svix",
  docs: "https://docs.svix.com/receiving/verifying-payloads/how",
  schemes: standardSchemes("svix", "webhook"),
  // The id is in the header that the signature covers.
  type: ["body:type"],
  catchUp,
  facts: {
    ...says("https://docs.svix.com/retries", {
      answer: "any 2xx",
      answerSeconds: 15,
      repeats: "automatic",
      schedule: "after 5 seconds, 5 and 30 minutes, 2, 5, 10 and 10 hours",
      repeatsForSeconds: 5 + 35 * 60 + 27 * 3600,
      disables: "after 5 days in which every attempt failed",
    }),
    ...says("https://docs.svix.com/retention", { keepsDays: 90 }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/svix/svix-webhooks/blob/4fc0cfb8b426c87ef7e2b937e7d896a71d456a47/server/svix-server/src/worker.rs",
  },
});
