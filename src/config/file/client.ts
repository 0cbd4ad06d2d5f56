import * as v from "valibot";
import type { Client } from "../../auth/clients/client.ts";
import { type AppPreset, addressIn } from "../../auth/clients/preset.ts";
import { loadAppPreset } from "../../auth/clients/preset-files.ts";
import { redirectFault } from "../../auth/clients/redirects.ts";
import { NAME } from "../../lib/name.ts";
import { duration, MAX_AGE, oneOf } from "../fields.ts";
import { ALLOWED_PERSON } from "./access.ts";
import { key, keyOr, listOf, NAME_EXPECTATION, TEXT, textLike } from "./fields.ts";
import { APP_PRESET } from "./preset.ts";
import type { Reading } from "./reading.ts";
import { SECRET, warnOfWeakness } from "./secrets.ts";
import { becomes, type Known, map, mapOf } from "./shape.ts";

/** A URL that is compared exactly, so nothing in it may be written in two ways. */
const exactUrl = (expectation: string) =>
  v.pipe(
    v.string(expectation),
    v.check((text) => isExactUrl(text), `${expectation}, absolute, without fragment, user and password`),
  );

function isExactUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && !text.includes("#") && !/[\s\\]/.test(text) && url.username === "" && url.password === "";
}

const webUrl = (expectation: string) =>
  v.pipe(
    exactUrl(expectation),
    v.check((text) => /^https?:\/\//.test(text), expectation),
  );

const REDIRECT = v.pipe(
  v.string("expected the address that the app names in redirect_uri, e.g. https://app.example.com/callback"),
  becomes((uri, reading) => {
    const fault = redirectFault(uri);
    return fault === null ? uri : reading.fault(fault);
  }),
);

const APP_URL = "expected an http or https URL without a query, e.g. https://photos.example.com";

const CLIENT_KEYS = {
  preset: key(APP_PRESET, "The app: one of `authserve clients presets`. It stands for `redirects` and `logout`."),
  url: key(
    v.pipe(
      webUrl(APP_URL),
      v.check((text) => !text.includes("?"), APP_URL),
    ),
    "The address of the app. Only with `preset`.",
  ),
  redirects: key(
    listOf(REDIRECT, "redirect", "expected a list of addresses"),
    "The addresses that it may be answered at, exactly, instead of those of the preset. A loopback address may have any " +
      "port.",
  ),
  secret: key(SECRET, "What it proves itself with: `env:NAME` or `file:PATH`. Not with `public: true`."),
  public: key(v.boolean("expected true or false"), "`true`: it has no secret, and must use PKCE."),
  logout: key(
    map(
      {
        backchannel: key(webUrl("expected an http or https URL"), "Where logout tokens are posted."),
        after: key(listOf(webUrl("expected an http or https URL"), "address"), "Where a logout may lead, exactly."),
      },
      "expected a map with backchannel and after",
    ),
    "What it learns of the end of a session, instead of what the preset says.",
  ),
  allow: key(
    listOf(ALLOWED_PERSON, "person or group", "expected a list of person:ID and group:NAME"),
    "Who may log in to it: `person:ID` and `group:NAME` of `people`. Others are led back with `access_denied`. Default: everybody.",
  ),
  claims: key(
    map(
      {
        groups: key(
          listOf(TEXT, "group"),
          "The value of `groups`. Only for a person who is not in `people`: those have their own.",
        ),
        username: key(
          TEXT,
          "The value of `preferred_username`. Default: the e-mail before the `@`. Only for a person who is not in `people`: those have their id, and `name`.",
        ),
        idToken: key(
          v.boolean("expected true or false"),
          "`false`: the ID token has no claims of the scopes, only the user info has them.",
        ),
      },
      "expected a map with groups, username and idToken",
    ),
    "What it is told.",
  ),
  sessionMaxAge: key(duration(60_000, "12h", MAX_AGE), "The longest time since the login. Then it must be repeated."),
  offline: keyOr(oneOf("end", "keep"), "end", "`keep`: refresh tokens with `offline_access` outlive the session."),
  consent: keyOr(oneOf("once", "always", "never"), "once", "When the user is asked whether to log in to it."),
  algorithm: keyOr(oneOf("RS256", "ES256"), "RS256", "How its ID tokens are signed."),
};

const ClientSchema = map(CLIENT_KEYS, "expected a map with redirects and secret", {
  check(entry, reading) {
    checkAddresses(entry, reading);
    checkSecret(entry, reading);
  },
  read: ({
    preset = null,
    url = "",
    redirects,
    secret,
    logout = logoutOf(preset, url),
    allow = null,
    claims = {},
    sessionMaxAge,
    offline,
    consent,
    algorithm,
  }) => ({
    preset,
    redirects: redirects ?? presetOf(preset)?.redirects.map((path) => addressIn(url, path)) ?? [],
    secret: secret?.value ?? null,
    logout: { backchannel: logout.backchannel ?? null, after: logout.after ?? [] },
    allow,
    claims: {
      groups: claims.groups ?? [],
      username: claims.username ?? null,
      inIdToken: claims.idToken ?? true,
    },
    sessionMaxAgeSeconds: sessionMaxAge === undefined ? null : sessionMaxAge / 1000,
    offline,
    consent,
    algorithm,
  }),
});

const presetOf = (name: string | null | undefined): AppPreset | null =>
  name === null || name === undefined ? null : loadAppPreset(name);

function logoutOf(preset: string | null, url: string): { backchannel?: string; after?: string[] } {
  const { backchannel } = presetOf(preset) ?? {};
  return backchannel === undefined ? {} : { backchannel: addressIn(url, backchannel.path) };
}

function checkAddresses({ preset, url, redirects }: Known<typeof CLIENT_KEYS>, reading: Reading): void {
  if (reading.isWrong) return;
  if (preset === undefined && url !== undefined)
    reading.at("url").fault("found without preset, expected both, or redirects alone", "key");
  else if (preset !== undefined && url === undefined)
    reading.at("preset").fault("found without url, expected the address of the app beside it", "key");
  else if (preset === undefined && redirects === undefined)
    reading.fault("found neither redirects nor preset, expected one of them");
}

function checkSecret(entry: Known<typeof CLIENT_KEYS>, reading: Reading): void {
  const { secret, public: isPublic = presetOf(entry.preset)?.isPublic } = entry;
  if (entry.public === true && secret !== undefined)
    reading.at("secret").fault("found beside public: true, expected one of them", "key");
  else if (secret != null) warnOfWeakness(secret, reading.at("secret"));
  if (isPublic !== true && secret === undefined && !reading.isWrong)
    reading.fault("found neither secret nor public: true, expected one of them");
}

/** The apps that log in through this service, by their `client_id`. */
export const ClientsSchema = v.pipe(
  mapOf(textLike(NAME, NAME_EXPECTATION), ClientSchema, "expected a map of names and clients"),
  v.transform((clients): Client[] =>
    Object.entries(clients).flatMap(([name, client]) => (client === undefined ? [] : [{ name, ...client }])),
  ),
);
