import type { BlockList } from "node:net";
import * as v from "valibot";
import { nearest } from "../../lib/nearest.ts";
import { PRESETS } from "../../webhook/presets/index.ts";
import { unknownPlaceholder } from "../../webhook/signed-text.ts";
import { diskSize, duration, integer, LONGEST_AGE, networks, oneOf, path, size } from "../fields.ts";
import { AlertsSchema } from "./alerts-schema.ts";
import { key, NAME, numberOrText, TEXT, textLike } from "./fields.ts";
import { RetentionSchema } from "./retention-entry.ts";
import { RouteSchema } from "./route-schema.ts";

const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

const header = v.pipe(textLike(HEADER, "expected the name of a header"), v.toLowerCase());

const SLUGS = Object.keys(PRESETS);

const preset = v.picklist(SLUGS, ({ input }) => {
  const meant = typeof input === "string" ? nearest(input, SLUGS) : undefined;
  const hint = meant === undefined ? "see authserve sources presets" : `did you mean ${meant}?`;
  return `expected the name of a preset (${hint})`;
});

const signed = v.pipe(
  TEXT,
  v.check(
    (value) => unknownPlaceholder(value) === undefined,
    "expected text with {body} {timestamp} {header:NAME} {url} {path} {method} only",
  ),
  // Node has the names of received headers in lower case.
  v.transform((value) => value.replace(/\{headers?:[^{}]+\}/g, (placeholder) => placeholder.toLowerCase())),
);

const tolerance = duration(1000, "5m");

const timestamp = v.strictObject({
  header: key(header, "The header that has the time."),
  pair: key(TEXT, "The key of the time in the signature header, with `format: pairs`."),
  unit: key(oneOf("s", "ms", "iso"), "Unix seconds, Unix milliseconds or ISO 8601. Default: `s`."),
});

const verify = v.strictObject({
  type: key(oneOf("hmac", "token", "basic"), "How the sender proves itself. Default: `hmac`."),
  header: key(header, "The header with the signature or the token."),
  algorithm: key(oneOf("sha1", "sha256", "sha512"), "The hash function. Default: `sha256`."),
  encoding: key(oneOf("hex", "base64", "base64url"), "How the signature is written. Default: `hex`."),
  prefix: key(TEXT, "Text that precedes the signature or the token."),
  format: key(
    oneOf("pairs", "list"),
    "Several items in the header: `pairs` is `t=1,v1=SIGNATURE`, `list` is `v1,SIGNATURE v1,SIGNATURE`.",
  ),
  label: key(TEXT, "The key or version of a signature in `pairs` or `list`, e.g. `v1`."),
  signed: key(
    signed,
    "The signed text, with `{body}` `{timestamp}` `{header:NAME}` `{url}` `{path}` `{method}`. Default: `{body}`.",
  ),
  timestamp: key(timestamp, "Where the signed time is."),
  tolerance: key(tolerance, "Largest difference of the signed time from the clock. Default: `5m`."),
  key: key(oneOf("utf8", "hex", "base64", "whsec"), "How the secret becomes the key. Default: `utf8`, its text."),
});

const address = v.pipe(
  TEXT,
  v.check(
    (value) => !value.includes(",") && v.is(networks, value),
    "expected an address or a range, e.g. 192.0.2.0/24",
  ),
);

const addresses = v.pipe(
  v.array(address, "expected a list"),
  v.minLength(1, "expected at least one address"),
  v.transform((list): BlockList => v.parse(networks, list.join(","))),
);

const bodyLimit = numberOrText(size, "expected a size from 1 byte to 64m, e.g. 1m");

/** A source as it is written in the file. */
export const SourceSchema = v.strictObject(
  {
    preset: key(preset, "The provider that sends. `authserve sources presets` lists them."),
    verify: key(verify, "How the sender signs, if no preset fits."),
    path: key(path, "The path of the URL. Default: `/webhook/` and the name of the source."),
    secrets: v.pipe(
      v.array(TEXT, "expected a list"),
      v.minLength(1, "expected at least one secret"),
      v.description("Where the secrets are, the newest first: `env:NAME`, or `file:PATH` relative to this file."),
    ),
    id: key(
      textLike(/^(?:bytes|header:[A-Za-z0-9!#$%&'*+.^_`|~-]+|body:.+)$/, "expected body:PATH, header:NAME or bytes"),
      "Where the id of an event is: `body:PATH` with dots between the names, `header:NAME`, or `bytes` for a digest.",
    ),
    type: key(
      textLike(/^(?:header:[A-Za-z0-9!#$%&'*+.^_`|~-]+|body:.+)$/, "expected body:PATH or header:NAME"),
      "Where the type of an event is: `body:PATH` or `header:NAME`.",
    ),
    dedupe: key(
      oneOf("bytes", "id"),
      "What makes a duplicate if the id is not signed. Default: `bytes`. `id` trusts it.",
    ),
    tolerance: key(tolerance, "Largest difference of the signed time from the clock."),
    contentTypes: key(
      v.pipe(
        v.array(
          v.pipe(
            textLike(/^(?:\*\/\*|[\w.+-]+\/(?:\*|[\w.+-]+))$/, "expected a media type, e.g. application/json"),
            v.toLowerCase(),
          ),
          "expected a list",
        ),
        v.minLength(1, "expected at least one media type"),
      ),
      'Accepted media types. `text/*` is a range, and `"*/*"` means any. Default: those of the preset, or JSON.',
    ),
    bodyLimit: key(bodyLimit, "Largest body. Default: that of the preset, or `WEBHOOK_BODY_LIMIT`."),
    allowedAddresses: key(addresses, "Addresses that may deliver. Default: all."),
    addressMode: key(
      oneOf("enforce", "watch"),
      "`enforce` refuses other addresses. `watch` only logs them. Default: `enforce`.",
    ),
    keepRejected: key(
      v.strictObject(
        {
          count: key(numberOrText(integer(1, 100_000_000)), "How many. Default: `1000`."),
          bytes: key(
            numberOrText(diskSize, "expected a size such as 64m"),
            "How many bytes of bodies. Default: `64m`.",
          ),
          for: key(duration(1000, "7d", LONGEST_AGE), "How long. Default: `7d`."),
        },
        "expected a map, which may be empty: {}",
      ),
      "Keeps deliveries whose signature matches no secret, within bounds, the newest ones. `authserve events reverify` admits them when the secret is mended.",
    ),
    expectEvery: key(
      duration(1000, "24h", LONGEST_AGE),
      "The longest usual time between two deliveries. After that and a fifth of it without one, an alert fires.",
    ),
  },
  "expected a list such as [env:NAME]",
);

export type SourceEntry = v.InferOutput<typeof SourceSchema>;

/** The whole file. */
export const FileSchema = v.strictObject({
  sources: v.optional(
    v.pipe(
      v.record(v.pipe(v.string(), v.regex(NAME)), SourceSchema),
      v.description("The senders of webhooks, by name."),
    ),
  ),
  routes: v.optional(
    v.pipe(
      v.array(RouteSchema),
      v.minLength(1),
      v.description("What processes the events. An event takes every route that matches it."),
    ),
  ),
  retention: v.optional(v.pipe(RetentionSchema, v.description("How long events are kept."))),
  alerts: v.optional(v.pipe(AlertsSchema, v.description("When alerts fire, and where they are sent."))),
});
