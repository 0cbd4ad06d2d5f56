import type { CatchUpAdapter } from "../../../src/webhook/provider/catch-up.ts";
import { providerOf } from "../../../src/webhook/providers/index.ts";
import {
  githubApi,
  gitlabApi,
  paypalApi,
  paypalEvent,
  stripeApi,
  stripeEvent,
  svixApi,
} from "../../helpers/stand-ins/providers.ts";
import { HOUR } from "./day.ts";

/** How a provider is caught up with. */
export const adapterOf = (name: string) => providerOf(name)?.catchUp as CatchUpAdapter;

const GITHUB_HOOK = "https://api.github.com/repos/octocat/hello/hooks/1";
const GITLAB_HOOK = "https://gitlab.com/api/v4/projects/42/hooks/7";
const PAYPAL_HOOK = "https://api-m.paypal.com/v1/notifications/webhooks/5GP028458E2496506";
const SVIX_HOOK = "https://api.us.svix.com/api/v1/app/app_1/endpoint/ep_1srOrx2ZWZBpBUvZwXKQmoEYga2";

/** The senders that can be asked, as stand-ins. Their own repeats are about those that the presets name. */
export const SENDERS = {
  github: {
    name: "github",
    adapter: adapterOf("github"),
    origin: "https://api.github.com",
    hook: GITHUB_HOOK,
    api: (log) => githubApi(log, GITHUB_HOOK),
  },
  gitlab: {
    name: "gitlab",
    adapter: adapterOf("gitlab"),
    origin: "https://gitlab.com",
    hook: GITLAB_HOOK,
    api: (log, now) => gitlabApi(log, GITLAB_HOOK, now),
  },
  stripe: {
    name: "stripe",
    adapter: adapterOf("stripe"),
    origin: "https://api.stripe.com",
    hook: null,
    api: (log) => stripeApi(log, "https://api.stripe.com"),
    bodyOf: stripeEvent,
    // Three days in all.
    repeatsAfterMs: [1, 2, 4, 8, 12, 15, 15, 15].map((hours) => hours * HOUR),
    settings: { windowMs: 30 * 24 * HOUR },
  },
  paypal: {
    name: "paypal",
    adapter: adapterOf("paypal"),
    origin: "https://api-m.paypal.com",
    hook: PAYPAL_HOOK,
    api: (log) => paypalApi(log),
    idOf: (number) => `WH58D329510W468432D${number}`,
    bodyOf: paypalEvent,
    repeatsAfterMs: Array.from({ length: 24 }, () => 3 * HOUR),
  },
  svix: {
    name: "svix",
    adapter: adapterOf("svix"),
    origin: "https://api.us.svix.com",
    hook: SVIX_HOOK,
    api: (log) => svixApi(log, SVIX_HOOK),
    idOf: (number) => `msg_1srOrx2ZWZBpBUvZwXKQmoE${number}`,
    repeatsAfterMs: [5000, 300_000, 1_800_000, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  },
} satisfies Record<string, Parameters<ReturnType<typeof import("./day.ts").openReceiver>["sender"]>[0]>;
