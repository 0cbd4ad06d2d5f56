import type { ApiRequest } from "../../../src/webhook/provider/catch-up.ts";
import {
  answerJson,
  type DeliveryLog,
  hasHeader,
  isPost,
  NOT_FOUND,
  type ProviderEvent,
  type StandInAnswer,
} from "./stand-in.ts";

export const TOKEN = "a-token-of-a-stand-in";

type Api = (request: ApiRequest) => Promise<StandInAnswer>;

const PAGE = 3;
const UNAUTHORIZED = answerJson({ message: "Bad credentials" }, 401);

/** The items of a page, the newest first, and whether there are more. */
function page<T>(items: readonly T[], start: number): { items: T[]; hasMore: boolean } {
  const newest = items.toReversed();
  return { items: newest.slice(start, start + PAGE), hasMore: newest.length > start + PAGE };
}

/** GitHub's deliveries of a webhook (https://docs.github.com/en/rest/repos/webhooks). */
export function githubApi(log: DeliveryLog, hook: string): Api {
  return async (request) => {
    const url = new URL(request.url);
    const path = new URL(hook).pathname;
    if (!hasHeader(request, "authorization", `Bearer ${TOKEN}`)) return UNAUTHORIZED;
    if (!isPost(request) && url.pathname === `${path}/deliveries`) {
      const start = Number(url.searchParams.get("cursor") ?? 0);
      const { items, hasMore } = page(log.attempts, start);
      const next = `<${hook}/deliveries?per_page=100&cursor=${start + PAGE}>; rel="next"`;
      return answerJson(items.map(githubDelivery), 200, hasMore ? { link: next } : {});
    }
    const [, number] = /\/deliveries\/9007199254740(\d+)\/attempts$/.exec(url.pathname) ?? [];
    const attempt = log.attempts.find((one) => one.number === Number(number) - 1000);
    if (!isPost(request) || attempt === undefined) return NOT_FOUND;
    await log.redeliver(attempt.event);
    return answerJson({}, 202);
  };
}

/** A number as it is written. TypeScript does not know this function of JavaScript yet. */
const rawJson = (text: string) => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

/** A delivery whose id JavaScript cannot hold. */
const githubDelivery = ({ number, event, at, isDelivered, isRepeat }: DeliveryLog["attempts"][number]) => ({
  id: rawJson(`9007199254740${number + 1000}`),
  guid: event.id,
  delivered_at: new Date(at).toISOString(),
  redelivery: isRepeat,
  duration: 0.27,
  status: isDelivered ? "OK" : "failed to connect",
  status_code: isDelivered ? 200 : 502,
  event: event.type,
  action: null,
  installation_id: null,
  repository_id: 1_296_269,
  throttled_at: null,
});

/** GitLab's events of a project webhook, five repeats in a minute (https://docs.gitlab.com/api/project_webhooks/). */
export function gitlabApi(log: DeliveryLog, hook: string, now: () => number): Api {
  let repeats: number[] = [];
  return async (request) => {
    const url = new URL(request.url);
    const path = new URL(hook).pathname;
    if (!hasHeader(request, "private-token", TOKEN)) return UNAUTHORIZED;
    if (!isPost(request) && url.pathname === `${path}/events`) {
      const number = Number(url.searchParams.get("page") ?? 1);
      const { items, hasMore } = page(log.attempts, (number - 1) * PAGE);
      return answerJson(items.map(gitlabEvent), 200, { "x-next-page": hasMore ? String(number + 1) : "" });
    }
    const [, id] = /\/events\/(\d+)\/resend$/.exec(url.pathname) ?? [];
    const attempt = log.attempts.find(({ number }) => number === Number(id));
    if (!isPost(request) || attempt === undefined) return NOT_FOUND;
    repeats = repeats.filter((at) => at > now() - 60_000);
    if (repeats.length === 5)
      return answerJson({ message: { error: "This endpoint has been requested too many times" } }, 429);
    repeats.push(now());
    const isDelivered = await log.redeliver(attempt.event);
    return answerJson({ response_status: isDelivered ? 200 : 500 }, 201);
  };
}

const gitlabEvent = ({ number, event, isDelivered }: DeliveryLog["attempts"][number]) => ({
  id: number,
  url: "https://hooks.example/webhook/gitlab",
  trigger: "push_hooks",
  request_headers: {
    "Content-Type": "application/json",
    "Idempotency-Key": event.id,
    "X-Gitlab-Event": "Push Hook",
    "X-Gitlab-Token": "[REDACTED]",
  },
  request_data: JSON.parse(event.body),
  response_headers: {},
  response_body: "",
  execution_duration: 1.09,
  response_status: isDelivered ? "200" : "internal error",
});

/** Stripe's events (https://docs.stripe.com/api/events). */
export function stripeApi(log: DeliveryLog, origin: string, enabledEvents: readonly string[] = ["*"]): Api {
  return async (request) => {
    const url = new URL(request.url);
    if (!hasHeader(request, "authorization", `Bearer ${TOKEN}`)) return UNAUTHORIZED;
    if (isPost(request) || url.origin !== origin) return NOT_FOUND;
    if (url.pathname.startsWith("/v1/webhook_endpoints/"))
      return answerJson({ ...STRIPE_ENDPOINT, enabled_events: enabledEvents });
    if (url.pathname === "/v1/events") {
      const since = Number(url.searchParams.get("created[gte]")) * 1000;
      const wantsAll = url.searchParams.get("delivery_success") === null;
      // The cursor names a place, also of an event that has arrived since.
      const after = url.searchParams.get("starting_after");
      const end = after === null ? log.events.length : log.events.findIndex(({ id }) => id === after);
      const isListed = (event: ProviderEvent) => event.at >= since && (wantsAll || !log.hasArrived(event));
      const { items, hasMore } = page(log.events.slice(0, end).filter(isListed), 0);
      return answerJson({
        object: "list",
        url: "/v1/events",
        has_more: hasMore,
        data: items.map(({ body }) => JSON.parse(body)),
      });
    }
    const event = log.events.find(({ id }) => url.pathname === `/v1/events/${id}`);
    return event ? answerJson(JSON.parse(event.body)) : NOT_FOUND;
  };
}

const STRIPE_ENDPOINT = {
  id: "we_1",
  object: "webhook_endpoint",
  api_version: null,
  application: null,
  created: 1_234_567_890,
  description: null,
  livemode: false,
  metadata: {},
  status: "enabled",
  url: "https://hooks.example/webhook/stripe",
};

/** The body of an event of Stripe. */
export const stripeEvent = (id: string, at: number, type = "payment_intent.succeeded") =>
  JSON.stringify({
    id,
    object: "event",
    api_version: "2024-06-20",
    created: Math.floor(at / 1000),
    data: { object: { id: `pi_${id}`, object: "payment_intent", amount: 1000 } },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  });

/**
 * PayPal's event notifications (https://developer.paypal.com/docs/api/webhooks/v1/). It delivers no pending one again.
 * Its links have named hosts of its own network (https://github.com/paypal/PayPal-node-SDK/issues/68).
 */
export function paypalApi(log: DeliveryLog, types: readonly string[] = ["*"]): Api {
  const events = "/v1/notifications/webhooks-events";
  return async (request) => {
    const url = new URL(request.url);
    if (url.pathname === "/v1/oauth2/token") return paypalToken(request);
    if (!hasHeader(request, "authorization", "Bearer an-access-token")) return UNAUTHORIZED;
    if (!isPost(request) && /\/webhooks\/\w+\/event-types$/.test(url.pathname))
      return answerJson({ event_types: types.map((name) => ({ name, description: "", status: "ENABLED" })) });
    if (!isPost(request) && url.pathname === events) {
      const [from, to] = ["start_time", "end_time"].map((name) => Date.parse(url.searchParams.get(name) ?? ""));
      const { items, hasMore } = page(
        log.events.filter(({ at }) => at >= (from ?? 0) && at <= (to ?? 0)),
        0,
      );
      url.searchParams.set("end_time", new Date(items.at(-1)?.at ?? 0).toISOString());
      const links = hasMore ? [{ href: `${INTRANET}${events}${url.search}`, rel: "next", method: "GET" }] : [];
      return answerJson({ events: items.map(({ body }) => JSON.parse(body)), count: items.length, links });
    }
    const event = log.events.find(({ id }) => url.pathname === `${events}/${id}/resend`);
    if (!isPost(request) || event === undefined) return NOT_FOUND;
    if (!log.isPending(event)) await log.redeliver(event);
    return answerJson(JSON.parse(event.body), 202);
  };
}

const INTRANET = "https://10.74.133.169:17881";

function paypalToken(request: ApiRequest): StandInAnswer {
  const isRight = hasHeader(request, "authorization", `Basic ${Buffer.from(TOKEN).toString("base64")}`);
  return isRight
    ? answerJson({ access_token: "an-access-token", token_type: "Bearer", expires_in: 32_400 })
    : UNAUTHORIZED;
}

/** The body of an event of PayPal. */
export const paypalEvent = (id: string, at: number, type = "PAYMENT.CAPTURE.COMPLETED") =>
  JSON.stringify({
    id,
    create_time: new Date(at).toISOString(),
    resource_type: "capture",
    event_version: "1.0",
    event_type: type,
    summary: "Payment completed",
    resource_version: "2.0",
    resource: { id: `capture-${id}` },
    links: [],
  });

/** Svix's attempts of an endpoint, which may be disabled (https://api.svix.com/docs). */
export function svixApi(log: DeliveryLog, hook: string, isDisabled = () => false): Api {
  return async (request) => {
    const url = new URL(request.url);
    const [app = "", endpoint = ""] = new URL(hook).pathname.split("/endpoint/");
    if (!hasHeader(request, "authorization", `Bearer ${TOKEN}`)) return UNAUTHORIZED;
    if (request.url.startsWith(hook)) return svixEndpoint(log, request, isDisabled());
    if (!isPost(request) && url.pathname === `${app}/attempt/endpoint/${endpoint}`) {
      const after = Date.parse(url.searchParams.get("after") ?? "");
      const start = Number(url.searchParams.get("iterator")?.replace("atmpt_", "") ?? 0);
      const { items, hasMore } = page(
        log.attempts.filter(({ at }) => at >= after),
        start,
      );
      const iterator = attemptId(start + PAGE);
      return answerJson({ data: items.map((one) => svixAttempt(one, endpoint)), done: !hasMore, iterator });
    }
    const event = log.events.find(({ id }) => url.pathname === `${app}/msg/${id}/endpoint/${endpoint}/resend`);
    if (!isPost(request) || event === undefined) return NOT_FOUND;
    await log.redeliver(event);
    return answerJson({}, 202);
  };
}

async function svixEndpoint(log: DeliveryLog, request: ApiRequest, disabled: boolean): Promise<StandInAnswer> {
  if (!isPost(request)) return answerJson({ ...SVIX_ENDPOINT, disabled });
  const since = Date.parse(JSON.parse(request.body ?? "").since);
  for (const event of log.untried()) if (event.at >= since) await log.redeliver(event);
  return answerJson(SVIX_TASK, 202);
}

const SVIX_ENDPOINT = {
  id: "ep_1srOrx2ZWZBpBUvZwXKQmoEYga2",
  url: "https://hooks.example/webhook/svix",
  description: "",
  metadata: {},
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
};

const SVIX_TASK = {
  id: "qtask_1srOrx2ZWZBpBUvZwXKQmoEYga2",
  status: "running",
  task: "endpoint.replay",
  updatedAt: "2026-01-01T00:00:00Z",
};

const attemptId = (number: number) => `atmpt_${String(number).padStart(27, "0")}`;

const svixAttempt = ({ number, event, at, isDelivered }: DeliveryLog["attempts"][number], endpointId: string) => ({
  id: attemptId(number),
  endpointId,
  msgId: event.id,
  response: "",
  responseDurationMs: 12,
  responseStatusCode: isDelivered ? 200 : 0,
  status: isDelivered ? 0 : 2,
  statusText: isDelivered ? "success" : "fail",
  timestamp: new Date(at).toISOString(),
  triggerType: 0,
  url: "https://hooks.example/webhook/svix",
});
