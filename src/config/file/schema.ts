import * as v from "valibot";
import { parseRange } from "../../lib/address-range.ts";
import { CODINGS } from "../../lib/content-coding.ts";
import { nearest } from "../../lib/nearest.ts";
import { DESCRIBED_KINDS } from "../../webhook/handshakes/kind.ts";
import { PROVIDER_NAMES } from "../../webhook/providers/index.ts";
import { unknownPlaceholder } from "../../webhook/signature/signed-text.ts";
import { DELIVERY_METHODS, type Dedupe } from "../../webhook/source.ts";
import { diskSize, duration, integer, LONGEST_AGE, LONGEST_WAIT, oneOf, parsed, path, size } from "../fields.ts";
import { parseDurationMs } from "../units.ts";
import { AlertsSchema } from "./alerts-schema.ts";
import { key, NAME, numberOrText, TEXT, textLike } from "./fields.ts";
import { RetentionSchema } from "./retention-entry.ts";
import { RouteSchema } from "./route-schema.ts";

const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

// A challenge in one of the others would change how the answer is read.
export const ECHO_HEADER = /^(?!content-|transfer-|connection$|set-cookie)[A-Za-z0-9!#$%&'*+.^_`|~-]+$/i;

const header = v.pipe(textLike(HEADER, "expected the name of a header"), v.toLowerCase());

const preset = v.picklist(PROVIDER_NAMES, ({ input }) => {
  const meant = typeof input === "string" ? nearest(input.toLowerCase(), PROVIDER_NAMES) : undefined;
  const hint = meant === undefined ? "see authserve sources presets" : `did you mean ${meant}?`;
  return `expected the name of a preset (${hint})`;
});

const signed = v.pipe(
  TEXT,
  v.check(
    (value) => unknownPlaceholder({ signed: value }) === undefined,
    "expected text with {body} {timestamp} {header:NAME} {url} {path} {method} or another known placeholder",
  ),
  // Node has the names of received headers in lower case.
  v.transform((value) => value.replace(/\{header:[^{}]+\}/g, (placeholder) => placeholder.toLowerCase())),
);

const PLACE = /^(?:header:[A-Za-z0-9!#$%&'*+.^_`|~-]+|body:.+|claim:.+)$/;

const place = textLike(PLACE, "expected body:PATH, header:NAME or claim:NAME");

const id = v.union(
  [textLike(new RegExp(`^bytes$|${PLACE.source}`), ""), v.pipe(v.array(textLike(PLACE, "")), v.minLength(2, ""))],
  "expected body:PATH, header:NAME, claim:NAME or bytes, or a list of several places",
);

const dedupe = parsed((value): Dedupe | null => {
  if (value === "bytes" || value === "id" || value === "off") return value;
  const ms = parseDurationMs(value);
  return ms !== null && ms >= 1000 && ms <= LONGEST_AGE.ms ? ms : null;
}, "expected bytes, id, off or a duration from 1s to 365d, e.g. 5m");

const tolerance = duration(1000, "5m");

const mediaType = textLike(/^[\w.+-]+\/[\w.+-]+(?:; ?charset=[\w-]+)?$/, "expected a media type, e.g. text/xml");

const timestamp = v.strictObject({
  header: key(header, "The header that has the time."),
  pair: key(TEXT, "The key of the time in the signature header, with `format: pairs`."),
  unit: key(oneOf("s", "ms", "iso"), "Unix seconds, Unix milliseconds or ISO 8601. Default: `s`."),
});

const claim = v.union([v.string(), v.number(), v.boolean()]);

const CLAIMS_EXPECTATION = "expected a map of claims, such as { email: push@example.iam.gserviceaccount.com }";

const claims = v.pipe(
  v.record(
    // A list would be a map of numbers.
    v.pipe(v.string(), v.regex(/^\D/, CLAIMS_EXPECTATION)),
    v.union([claim, v.pipe(v.array(claim), v.minLength(1))], "expected a text or a list of texts"),
    CLAIMS_EXPECTATION,
  ),
  v.check((value) => Object.keys(value).length > 0, "expected at least one claim"),
);

const verify = v.strictObject({
  type: key(
    oneOf("hmac", "ed25519", "ecdsa", "rsa", "jwt", "jws", "token", "basic"),
    "How the sender proves itself. Default: `hmac`. `ed25519`, `ecdsa` and `rsa` need `keys`, and so does `jwt` unless its algorithms begin with `HS`. `jws` needs `roots`.",
  ),
  header: key(header, "The header with the signature or the token."),
  in: key(
    textLike(/^form:./, "expected form:NAME"),
    "`form:NAME`: the signature is in this field of a form, instead of a header.",
  ),
  query: key(TEXT, "`token`: it is this parameter of the query, instead of a header."),
  body: key(
    TEXT,
    "`token`: it is the member of the body at this path, or this field of a form, instead of a header. `jws`: the member that is the signed token.",
  ),
  roots: key(
    v.pipe(
      v.array(TEXT, "expected a list such as [file:root.pem]"),
      v.minLength(1, "expected at least one certificate"),
    ),
    "`jws`: the root certificates of the sender in PEM, each at `file:PATH` or `env:NAME`, or as it is. The certificates in the header `x5c` of the token must lead to one of them.",
  ),
  path: key(v.literal(true, "expected true"), "`token`: it is in the path, behind that of the source and a slash."),
  algorithm: key(
    oneOf("md5", "sha1", "sha256", "sha512"),
    "The hash function. Default: `sha256`. `md5` is for `hmac` only, and weak.",
  ),
  encoding: key(
    oneOf("hex", "base64", "base64url"),
    "How the signature is written. Default: `hex`; with `keys`, hex or base64.",
  ),
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
  algorithms: key(
    v.pipe(
      v.array(
        oneOf("HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "EdDSA"),
        "expected a list such as [HS256]",
      ),
      v.minLength(1, "expected at least one algorithm"),
    ),
    "`jwt`, `jws`: accepted algorithms. Default: `[HS256]`, for `jws` `[ES256]`.",
  ),
  issuer: key(TEXT, "`jwt`: what `iss` must be."),
  audience: key(TEXT, "`jwt`: what `aud` must be or hold; `{url}` is the address of the delivery."),
  claims: key(
    claims,
    "`jwt`, `jws`: what further claims must be or hold, by name or path, each a text or a list of which one suffices. Of an issuer that signs for everybody, such as Google, `email` or `sub` is needed.",
  ),
  bodyClaim: key(TEXT, "`jwt`: the claim with the SHA-256 of the body in hex. Without it, the body is not covered."),
});

const address = v.pipe(
  TEXT,
  v.check(
    (value) => parseRange(value) !== null || /^(?:file:|https?:\/\/)[^#]/.test(value),
    "expected an address, a range, file:PATH or a URL, e.g. 192.0.2.0/24",
  ),
);

const addresses = v.pipe(v.array(address, "expected a list"), v.minLength(1, "expected at least one address"));

const bodyLimit = numberOrText(size, "expected a size from 1 byte to 64m, e.g. 1m");

/** The handshake of a source with a token, or one that the source describes. */
export const HandshakeSchema = v.strictObject(
  {
    token: key(TEXT, "The token that the provider shows or sends, as `env:NAME` or `file:PATH`."),
    confirm: key(v.literal(true), "Confirms subscriptions of Amazon SNS to the topic of `options`."),
    type: key(
      v.picklist(DESCRIBED_KINDS, `expected ${DESCRIBED_KINDS.join(", ")}`),
      "What the sender asks by, if no preset does: `head`, a `HEAD`; `echo-query`, a `GET` with a challenge in the query; `echo-header`, a `POST` with a challenge in a header; `echo-json`, a `POST` with a challenge in a member of its JSON; `hub`, as WebSub does; `match-query`, a `GET` with the `token` in the query, answered with 204 or 404.",
    ),
    name: key(textLike(HEADER, "expected a name"), "The parameter, the header or the member that has the challenge."),
    as: key(
      textLike(ECHO_HEADER, "expected the name of a header"),
      "The header of the answer, or the member of its JSON. Default: `name`; for `echo-query` and `hub`, an answer in text.",
    ),
  },
  "expected a map",
);

/** A source as it is written in the file. */
export const SourceSchema = v.strictObject(
  {
    preset: key(preset, "The provider that sends. `authserve sources presets` lists them."),
    verify: key(verify, "How the sender signs, if no preset fits."),
    path: key(path, "The path of the URL. Default: `/webhook/` and the name of the source."),
    secrets: key(
      v.pipe(v.array(TEXT, "expected a list such as [env:NAME]"), v.minLength(1, "expected at least one secret")),
      "Where the secrets are, the newest first: `env:NAME`, or `file:PATH` relative to this file.",
    ),
    keys: key(
      v.pipe(
        v.array(
          v.union([TEXT, v.record(v.string(), v.unknown())], "expected a public key"),
          "expected a list such as [env:NAME]",
        ),
        v.minLength(1, "expected at least one public key"),
      ),
      "The sender's public keys, the newest first: hex, base64, `whpk_…`, PEM or JWK, as it is or at `env:NAME` or `file:PATH`; or a set of them at `url:https://…`, which is fetched and refreshed. Default: the provider's URL, if the preset has one.",
    ),
    options: key(
      v.record(v.string(), TEXT, "expected a map of names and texts"),
      "What the preset needs besides, each as it is or at `env:NAME` or `file:PATH`: see `authserve sources presets`.",
    ),
    id: key(
      id,
      "Where the id of an event is: `body:PATH` with dots between the names, `header:NAME`, `claim:NAME` of a signed token, or `bytes` for a digest. A list is an id of several places together.",
    ),
    type: key(place, "Where the type of an event is: `body:PATH`, `header:NAME` or `claim:NAME`."),
    dedupe: key(
      dedupe,
      "What makes a duplicate. `bytes`: a known signed id, or without one the same bytes. `id`: a known id, signed or not. `off`: nothing. A duration such as `5m`: the same bytes within it. Default: that of the preset, or `bytes`.",
    ),
    tolerance: key(tolerance, "Largest difference of the signed time from the clock."),
    contentTypes: key(
      v.pipe(
        v.array(
          v.pipe(
            textLike(
              /^(?:\*\/\*|application\/\*\+json|[\w.+-]+\/(?:\*|[\w.+-]+))$/,
              "expected a media type, e.g. application/json",
            ),
            v.toLowerCase(),
          ),
          "expected a list",
        ),
        v.minLength(1, "expected at least one media type"),
      ),
      'Accepted media types. `text/*` and `application/*+json` are ranges, and `"*/*"` means any. Default: those of the preset, or JSON, also under names such as `application/hal+json`.',
    ),
    methods: key(
      v.pipe(
        v.array(oneOf(...DELIVERY_METHODS), "expected a list such as [POST, GET]"),
        v.minLength(1, "expected at least one method"),
      ),
      "The methods of deliveries. With `GET` and `HEAD` the query is the payload, as a form. Default: `[POST]`.",
    ),
    answer: key(
      v.pipe(
        v.strictObject(
          {
            status: key(numberOrText(integer(200, 299)), "The status, 200 to 299. Default: `200`."),
            type: key(mediaType, "The media type of the body. Default: `text/plain`."),
            body: key(v.string("expected a text"), "The body. Default: empty."),
          },
          "expected a map such as { status: 204 }",
        ),
        v.check(
          ({ status, body = "" }) => body === "" || (status !== 204 && status !== 205),
          "expected no body beside status 204 or 205",
        ),
      ),
      "The answer to a delivery, when its event is stored. Default: that of the preset, or our usual JSON.",
    ),
    encoding: key(
      v.pipe(
        v.array(oneOf(...CODINGS), "expected a list such as [gzip]"),
        v.minLength(1, "expected at least one encoding"),
      ),
      "Accepted values of `Content-Encoding`. Bodies are stored and passed on decoded. Default: those of the preset, or none.",
    ),
    signedOver: key(
      oneOf("plain", "encoded"),
      "Whether the signature of an encoded body covers the decoded one (`plain`) or the one that is sent (`encoded`). Default: that of the preset, or `plain`.",
    ),
    bodyLimit: key(bodyLimit, "Largest body. Default: that of the preset, or `WEBHOOK_BODY_LIMIT`."),
    allowedAddresses: key(
      addresses,
      "Addresses and ranges that may deliver, and lists of them: `file:PATH` relative to this file, or an `https` URL. `#NAME` after it names the member of a JSON document. Default: all.",
    ),
    addressRefresh: key(duration(1000, "1h", LONGEST_WAIT), "How often lists are fetched from URLs. Default: `1h`."),
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
      "Keeps deliveries whose signature matches no secret, or a retired one, within bounds, the newest ones. `authserve events reverify` admits them when the secret is mended.",
    ),
    retire: key(
      duration(1000, "14d", LONGEST_AGE),
      "An old secret that has not matched for so long is no longer accepted. Default: it stays accepted.",
    ),
    handshake: key(
      v.union([v.literal(true), HandshakeSchema], "expected true, { token: env:NAME } or { type: … }"),
      "Answers the handshake by which the provider checks the URL: `true`, `{ token: env:NAME }` where it has a token, or `{ type: … }` without a preset. Default: no answer.",
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
