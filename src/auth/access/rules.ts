import type { BlockList } from "node:net";
import { isIn } from "../../lib/address-range.ts";
import type { Person } from "../people/people.ts";
import { matchesPath, readPath } from "./path.ts";
import { type RequestedPlace, UnclearQuestion } from "./place.ts";
import { matchesQuery, type QueryRule } from "./query.ts";

/** What an entry asks for: a session of anybody, or a token of anybody's program. */
export const PASSES = ["session", "token"] as const;
type Pass = (typeof PASSES)[number];

/** A person, or the people of a group. */
export type AllowedPerson = `person:${string}` | `group:${string}`;

/** Who passes: whoever has one of these, or by a session or a token one of these people. */
export type Allowed = Pass | AllowedPerson;

/** An entry of `access`. What is null is not compared. */
export interface AccessRule {
  /** In lower case; `*.` at the beginning stands for any subdomain. */
  host: string | null;
  /** The decoded segments, see {@link matchesPath}. */
  path: readonly string[] | null;
  /** See {@link matchesQuery}. */
  query: QueryRule | null;
  methods: readonly string[] | null;
  networks: BlockList | null;
  allow: "everyone" | readonly Allowed[];
  /** Whether a session must be bound to its device. */
  isBound: boolean;
}

/** A request as the proxy names it. */
export interface AccessRequest {
  /** Where it goes. Null if no trusted proxy names it. */
  place: RequestedPlace | null;
  /** In upper case. Null if no trusted proxy names it. */
  method: string | null;
  /** The client's canonical address. Null if it is not known. */
  address: string | null;
}

/** What a request needs. */
export interface Judgement {
  /** It passes without a login, or with one of these. With none of them nobody passes. */
  allow: "everyone" | readonly Allowed[];
  /** The number of the entry that decides, from 1. Null: none matches. */
  entry: number | null;
  /** Whether a session must be bound to its device. */
  isBound: boolean;
  /** Whether the path can be read in several ways: it passes without a login if every one is open. */
  isAmbiguous: boolean;
}

/** Judges requests by the entries of the configuration file. */
export type JudgeAccess = (request: AccessRequest) => Judgement;

interface NumberedRule extends AccessRule {
  number: number;
}

// The entries for a host are found once. A client may name any number of hosts.
const CACHED_HOSTS = 1000;

const NO_ENTRY = { allow: PASSES, entry: null, isBound: false };

/** Creates the judgement by these entries: the first one that matches decides. */
export function createAccess(rules: readonly AccessRule[]): JudgeAccess {
  const numbered = rules.map((rule, index) => ({ ...rule, number: index + 1 }));
  const byHost = new Map<string, NumberedRule[]>();

  function rulesFor(host: string | undefined): readonly NumberedRule[] {
    if (host === undefined) return numbered.filter((rule) => rule.host === null);
    const known = byHost.get(host);
    if (known !== undefined) return known;
    const found = numbered.filter((rule) => matchesHost(rule.host, host));
    if (byHost.size >= CACHED_HOSTS) byHost.clear();
    byHost.set(host, found);
    return found;
  }

  return (request) => {
    if (numbered.length === 0) return { ...NO_ENTRY, isAmbiguous: false };
    const { place } = request;
    const candidates = rulesFor(place?.host);
    if (place === null) return { ...first(candidates, request, null, false), isAmbiguous: false };
    const reading = readPath(place.path);
    const asSent = first(candidates, request, reading.segments, reading.lenient === null);
    if (reading.lenient === null) return { ...asSent, isAmbiguous: false };
    // What the app reads is not known.
    const opener = openHoweverRead(candidates, request, reading.certain);
    if (opener !== null) return { allow: "everyone", entry: opener, isBound: false, isAmbiguous: true };
    // Otherwise both readings must let it pass.
    const asRead = first(candidates, request, reading.lenient, false);
    const allow = inBoth(asSent.allow, asRead.allow);
    const { entry } = asSent.allow.length <= allow.length ? asSent : asRead;
    return { allow, entry, isBound: asSent.isBound || asRead.isBound, isAmbiguous: true };
  };
}

/** Who is in two lists. */
function inBoth(one: Judgement["allow"], other: Judgement["allow"]): readonly Allowed[] {
  if (one === "everyone") return other === "everyone" ? PASSES : other;
  return other === "everyone" ? one : one.filter((allowed) => other.includes(allowed));
}

/** Whether entries let somebody pass with what the request has. */
export function isAllowed(
  allow: readonly Allowed[],
  pass: Pass,
  { name, groups }: Pick<Person, "name" | "groups">,
): boolean {
  return (
    allow.includes(pass) || allow.includes(`person:${name}`) || groups.some((group) => allow.includes(`group:${group}`))
  );
}

/** Whether a session or a token may be enough. */
export const mayPassWith = (allow: readonly Allowed[], pass: Pass) =>
  allow.some((allowed) => allowed === pass || allowed.includes(":"));

function unnamedMethod(): never {
  const found = "names no method, and an entry of access compares it";
  throw new UnclearQuestion(found, "send X-Original-Method, or X-Forwarded-Method");
}

/** Whether a host, in lower case, is the one of an entry, or below it. */
function matchesHost(pattern: string | null, host: string): boolean {
  if (pattern === null || pattern === host) return true;
  return pattern.startsWith("*.") && host.length > pattern.length - 1 && host.endsWith(pattern.slice(1));
}

/**
 * The number of the entry that opens a path to everyone, however it is read below the folder of `certain`. It must open
 * the whole folder or host, and no entry before it may be for one of the readings. Null: there is none.
 */
function openHoweverRead(
  rules: readonly NumberedRule[],
  request: AccessRequest,
  certain: readonly string[],
): number | null {
  const decider = rules.find(({ path, query, allow, ...rule }) => {
    if (allow !== "everyone") return mayMatch(path, certain) && matchesClient(rule, request);
    const isWhole = path === null || (path.length <= certain.length + 1 && path.at(-1) === "**");
    return query === null && isWhole && mayMatch(path, certain) && matchesClient(rule, request);
  });
  return decider?.allow === "everyone" ? decider.number : null;
}

/** Whether a pattern matches some path that begins with these segments. */
const mayMatch = (pattern: AccessRule["path"], certain: readonly string[]) =>
  pattern === null || matchesPath([...pattern.slice(0, certain.length), "**"], certain);

/** Whether an entry is for the network and the method of a request. */
const matchesClient = (
  { networks, methods }: Pick<AccessRule, "networks" | "methods">,
  { address, method }: AccessRequest,
) =>
  (networks === null || (address !== null && isIn(networks, address))) &&
  (methods === null || methods.includes(method ?? unnamedMethod()));

/**
 * What the first matching entry says. Without one a session or a token is needed. Throws
 * {@link UnclearQuestion} if an entry compares the method, and nobody names it.
 */
function first(
  rules: readonly NumberedRule[],
  request: AccessRequest,
  segments: readonly string[] | null,
  mayOpen: boolean,
): Omit<Judgement, "isAmbiguous"> {
  const found = rules.find(
    (rule) =>
      (mayOpen || rule.allow !== "everyone") &&
      (rule.path === null || (segments !== null && matchesPath(rule.path, segments))) &&
      (rule.query === null || matchesQuery(rule.query, request.place?.query ?? null)) &&
      matchesClient(rule, request),
  );
  return found === undefined ? NO_ENTRY : { allow: found.allow, entry: found.number, isBound: found.isBound };
}
