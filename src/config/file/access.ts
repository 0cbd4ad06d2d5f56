import * as v from "valibot";
import { type AccessRule, PASSES } from "../../auth/access/rules.ts";
import { blockListOf, parseRange } from "../../lib/address-range.ts";
import { oneOf } from "../fields.ts";
import { key, listOf, textLike } from "./fields.ts";
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
    methods: key(listOf(method, "method"), "The methods. Default: every method."),
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

type AccessEntry = Known<v.InferOutput<typeof AccessSchema>>;

/** Reads `access`, whose shape is known. With a fault in one of them the file is refused. */
export function readAccess(entries: readonly (AccessEntry | undefined)[], reading: Reading): AccessRule[] {
  return entries.flatMap((entry, index) => {
    const { host, path, methods, networks, allow } = entry ?? {};
    if (allow === undefined) return [];
    if (allow === "everyone" && host === undefined && path === undefined && networks === undefined)
      reading.at(index).warn("lets everybody in everywhere: name a host, a path or networks");
    return {
      host: host?.toLowerCase() ?? null,
      path: path?.split("/").slice(1) ?? null,
      methods: methods ?? null,
      networks: networks === undefined ? null : blockListOf(networks.flatMap((text) => parseRange(text) ?? [])),
      allow: allow === "nobody" ? [] : allow,
    };
  });
}
