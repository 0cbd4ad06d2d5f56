import * as v from "valibot";
import { isLoopback } from "../../http/listen.ts";
import { MINUTE_MS } from "../../lib/durations.ts";
import { catchUpOf } from "../../webhook/catch-up/adapters.ts";
import type { CatchUpAdapter, CatchUpSettings } from "../../webhook/provider/catch-up.ts";
import type { Scheme } from "../../webhook/signature/schemes.ts";
import { duration, integer, MAX_AGE, MAX_WAIT } from "../fields.ts";
import { formatDuration } from "../units.ts";
import { key, keyOr, numberOrText, TEXT } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef } from "./secrets.ts";
import { becomes, map } from "./shape.ts";

/** The origin of a host, which may be written as a URL. Without TLS it must be this machine. */
export const hostLike = (example: string) =>
  v.pipe(
    TEXT,
    becomes((host, reading) => {
      const url = URL.parse(host.includes("://") ? host : `https://${host}`);
      const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
      if (url && isSafe && url.pathname === "/" && url.search === "" && url.username === "") return url.origin;
      return reading.fault(`found no host, expected one such as ${example}, or an https URL of it`);
    }),
  );

/** The catch-up of a source as it is written in the file. */
export const CatchUpSchema = map(
  {
    token: v.pipe(TEXT, v.description("The credential for the provider's API, as `env:NAME` or `file:PATH`.")),
    hook: key(TEXT, "The URL of the webhook in the provider's API."),
    host: key(
      hostLike("github.example.com"),
      "The host of the API, if it is not one of the provider's own, e.g. `github.example.com`, or its URL.",
    ),
    app: key(TEXT, "The id of the GitHub App whose private key `token` is."),
    every: key(duration(MINUTE_MS, "1h", MAX_WAIT), "How often it catches up. Default: only by command."),
    window: keyOr(duration(MINUTE_MS, "3d", MAX_AGE), "3d", "How far it looks back, as far as the provider can."),
    maxPerRun: keyOr(numberOrText(integer(1, 100_000)), 500, "Most events that are asked for in one run."),
    route: key(
      v.boolean("expected true or false"),
      "Whether events that only the API has take the routes. They are not signed. Default: `false`.",
    ),
  },
  "expected a map with token",
);

interface CatchUpEntry {
  catchUp?: v.InferOutput<typeof CatchUpSchema> | undefined;
  preset?: string | undefined;
}

/** Reads how a source catches up. Null if it does not, or if there is a fault. */
export function readCatchUp(
  { catchUp: entry, preset }: CatchUpEntry,
  schemes: readonly Scheme[],
  source: Reading,
): CatchUpSettings | null {
  if (entry === undefined) return null;
  const reading = source.at("catchUp");
  const adapter = catchUpOf({ preset: preset ?? null, schemes });
  if (adapter === undefined)
    return reading.fault("found for a provider whose deliveries cannot be asked for, expected nothing", "key");
  const token = readSecretRef(entry.token, reading.at("token"));
  const place = readPlace(entry, adapter, reading);
  if (entry.window > adapter.keepsMs)
    reading.at("window").warn(`the provider keeps them for ${formatDuration(adapter.keepsMs)} only`);
  if (token === null || place === null) return null;
  const { app = null } = entry;
  if (app !== null && !adapter.hasApps)
    return reading.at("app").fault("found for a provider without apps, expected nothing", "key");
  const fault = adapter.fault?.({ hook: place.hook, token: token.value, app });
  if (fault) return reading.at(fault.key).fault(fault.text);
  return {
    ...place,
    token: token.value,
    app,
    everyMs: entry.every ?? null,
    windowMs: Math.min(entry.window, adapter.keepsMs),
    maxPerRun: entry.maxPerRun,
    routes: entry.route ?? false,
  };
}

/** Where the API is. The credential goes to no other host. */
function readPlace(
  { hook, host: own }: NonNullable<CatchUpEntry["catchUp"]>,
  { hosts, hook: form }: CatchUpAdapter,
  reading: Reading,
): Pick<CatchUpSettings, "origin" | "hook"> | null {
  const expected = `expected ${form.example}`;
  if (hook === undefined) {
    if (!form.isOptional) return reading.at("hook").fault(`missing, ${expected}`);
    return { hook: null, origin: own ?? `https://${hosts[0]}` };
  }
  const url = URL.parse(hook);
  if (url === null || url.search !== "" || url.username !== "" || !form.pattern.test(url.pathname))
    return reading.at("hook").fault(`found a URL of another form, ${expected}`);
  const isKnown = own === undefined ? url.protocol === "https:" && hosts.includes(url.host) : url.origin === own;
  if (!isKnown) return reading.at("hook").fault(`found another host, expected ${own ?? hosts.join(" or ")}, or host:`);
  return { hook: url.href, origin: url.origin };
}
