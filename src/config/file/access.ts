import * as v from "valibot";
import { type AccessRule, PASSES } from "../../auth/access/rules.ts";
import { blockListOf, parseRange } from "../../lib/address-range.ts";
import { oneOf } from "../fields.ts";
import { key, listOf, TEXT, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import type { Known } from "./shape.ts";

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

/** An entry of `access` as it is written in the file. */
export const AccessSchema = v.strictObject(
  {
    host: key(host, "The host, exactly, or `*.` and a suffix for any subdomain. Default: every host."),
    path: key(
      path,
      "The decoded path, by segments: `*` is one segment, `**` at the end is the rest. Case counts. Default: every path.",
    ),
    query: key(
      v.pipe(
        v.record(
          textLike(/^[A-Za-z0-9_-]{1,64}$/, "expected the name of a parameter"),
          TEXT,
          "expected a map of texts",
        ),
        v.check((texts) => Object.keys(texts).length > 0, "expected at least one parameter"),
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
        [oneOf("everyone", "nobody"), listOf(oneOf(...PASSES), "way")],
        "expected everyone, nobody, or a list of session and token",
      ),
      v.description(
        "`everyone` passes without a login, `nobody` at all, or a list: who has the `session`, or a `token` with the scope `verify`.",
      ),
    ),
  },
  "expected a map with allow",
);

// An app may take parameters of the body for those of the query.
const READS = ["GET", "HEAD"];

type AccessEntry = Known<v.InferOutput<typeof AccessSchema>>;

/** Reads `access`, whose shape is known. With a fault in one of them the file is refused. */
export function readAccess(entries: readonly (AccessEntry | undefined)[], reading: Reading): AccessRule[] {
  return entries.flatMap((entry, index) => {
    const { host, path, query, methods, networks, allow } = entry ?? {};
    if (allow === undefined) return [];
    checkOpening({ ...entry, allow }, reading.at(index));
    return {
      host: host?.toLowerCase() ?? null,
      path: path?.split("/").slice(1) ?? null,
      query: query === undefined ? null : Object.entries(query).map(([name, value = ""]) => [name, value] as const),
      methods: methods ?? (query === undefined ? null : READS),
      networks: networks === undefined ? null : blockListOf(networks.flatMap((text) => parseRange(text) ?? [])),
      allow: allow === "nobody" ? [] : allow,
    };
  });
}

/** Warns of an entry that opens more than somebody may mean. */
function checkOpening({ host, path, query, networks, allow }: AccessEntry, reading: Reading): void {
  if (query !== undefined && allow !== "everyone")
    reading.at("query").fault("is only for allow: everyone, since apps read queries in different ways: leave it out");
  else if (query !== undefined && Object.keys(query).length === 0)
    reading.at("query").fault("expected at least one parameter");
  else if (query !== undefined && path === undefined)
    reading.warn("opens every path to whoever adds the query: name a path");
  else if (allow === "everyone" && host === undefined && path === undefined && networks === undefined)
    reading.warn("lets everybody in everywhere: name a host, a path or networks");
}
