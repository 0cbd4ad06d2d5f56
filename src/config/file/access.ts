import * as v from "valibot";
import { type AccessRule, type AllowedPerson, mayPassWith, PASSES } from "../../auth/access/rules.ts";
import { blockListOf, parseRange } from "../../lib/address-range.ts";
import { PERSON_OR_GROUP } from "../../lib/name.ts";
import { oneOf } from "../fields.ts";
import { key, listOf, TEXT, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { becomes, type Known, list, map, mapOf } from "./shape.ts";

const HOST = /^(?:\*\.)?(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/i;
const PATH = /^(?:\/(?:(?!\*|\.{1,2}(?:\/|$))[^/?#%;\\*]+|\*(?!\*)))*(?:\/|\/\*\*)?$/;

const host = textLike(HOST, "expected a host without a port, e.g. app.example.com or *.example.com");
const path = v.pipe(
  textLike(PATH, "expected a decoded path, where * is one segment and ** at the end is the rest, e.g. /public/**"),
  v.check((text) => text !== "" && !/\p{Cc}/u.test(text), "expected a path that begins with /, e.g. /public/**"),
);
const method = textLike(/^[A-Z]{1,20}$/, "expected a method in capital letters, e.g. POST");
const network = v.pipe(
  v.string("expected an address or a range"),
  v.check((value) => parseRange(value) !== null, "expected an address or a range, e.g. 192.168.0.0/16"),
);

// An app may take parameters of the body for those of the query.
const READS = ["GET", "HEAD"];

/** A person, or the people of a group. */
export const ALLOWED_PERSON = v.pipe(
  textLike(PERSON_OR_GROUP, "expected person:ID or group:NAME"),
  v.transform((text) => text as AllowedPerson),
);

const ALLOWED = v.union([oneOf(...PASSES), ALLOWED_PERSON], "expected session, token, person:ID or group:NAME");

const ACCESS_KEYS = {
  host: key(host, "The host, exactly, or `*.` and a suffix for any subdomain. Default: every host."),
  path: key(
    path,
    "The decoded path, by segments: `*` is one segment, `**` at the end is the rest. Case counts. Default: every path.",
  ),
  query: key(
    v.pipe(
      mapOf(textLike(/^[A-Za-z0-9_-]{1,64}$/, "expected the name of a parameter"), TEXT, "expected a map of texts"),
      becomes((texts, reading) =>
        Object.keys(texts).length > 0 ? Object.entries(texts) : reading.fault("expected at least one parameter"),
      ),
    ),
    "Parameters of the query and their decoded values: each is there once, and no name in the query has escapes or brackets. Only with `allow: everyone`.",
  ),
  methods: key(listOf(method, "method"), "The methods. Default: every method, and with `query` GET and HEAD."),
  networks: key(
    listOf(network, "address"),
    "Addresses and ranges of the client, as trusted proxies name it. Default: every address.",
  ),
  allow: v.pipe(
    v.union(
      [oneOf("everyone", "nobody"), listOf(ALLOWED, "way")],
      "expected everyone, nobody, or a list of session, token, person:ID and group:NAME",
    ),
    v.description(
      "`everyone` passes without a login, `nobody` at all, or a list: who has the `session`, a `token` with the scope `verify`, or either of them as `person:ID` or in `group:NAME` of `people`.",
    ),
  ),
  bound: key(
    v.boolean("expected true or false"),
    "`true`: a session passes only if it is [bound to its device](../protect-an-app.md#bound-to-the-device). Default: false.",
  ),
};

const AccessRuleSchema = map(ACCESS_KEYS, "expected a map with allow", {
  check: checkOpening,
  read: ({ host, path, query, methods, networks, allow, bound }): AccessRule => ({
    host: host?.toLowerCase() ?? null,
    path: path?.split("/").slice(1) ?? null,
    query: query ?? null,
    methods: methods ?? (query === undefined ? null : READS),
    networks: networks === undefined ? null : blockListOf(networks.flatMap((text) => parseRange(text) ?? [])),
    allow: allow === "nobody" ? [] : allow,
    isBound: bound ?? false,
  }),
});

/** Who passes forward-auth. */
export const AccessSchema = list(AccessRuleSchema, "expected a list of entries");

type AccessEntry = Known<typeof ACCESS_KEYS>;

/** Refuses, or warns of, an entry that opens more than somebody may mean. */
function checkOpening({ host, path, query, networks, allow, bound }: AccessEntry, reading: Reading): void {
  if (allow === undefined) return;
  if (bound && (typeof allow === "string" || !mayPassWith(allow, "session")))
    reading.at("bound").fault("is only for a session: add session to allow, or leave it out");
  if (query !== undefined && allow !== "everyone")
    reading.at("query").fault("is only for allow: everyone, since apps read queries in different ways: leave it out");
  else if (query !== undefined && path === undefined)
    reading.warn("opens every path to whoever adds the query: name a path");
  else if (allow === "everyone" && host === undefined && path === undefined && networks === undefined)
    reading.warn("lets everybody in everywhere: name a host, a path or networks");
}
