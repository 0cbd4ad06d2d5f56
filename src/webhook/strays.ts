import type { IncomingHttpHeaders } from "node:http";
import { nearest } from "../lib/nearest.ts";
import { headersOf, isInAddress, isInPath } from "./signature/schemes.ts";
import { pathsOf, type Source } from "./source.ts";

/** A request to a path that no source has, which probably was a delivery. */
interface Stray {
  /** The path as it was sent, without what may be a secret. */
  path: string;
  /** The path that was probably meant; null if it is not known. */
  near: string | null;
}

interface UnmatchedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}

const MAX_PATH = 256;

const segmentsOf = (path: string) => path.split("/").slice(1);
const firstSegment = (path: string) => segmentsOf(path)[0] ?? "";

/**
 * Creates the function that tells whether a request was probably meant for one of the sources: its path is near one of
 * theirs or begins as one, or it has a header in which one of them is signed. It returns null for all others, such as
 * those of scanners, and for paths that begin as one of `ownPaths`.
 */
export function strayFinder(sources: readonly Source[], ownPaths: readonly string[]) {
  const own = new Set(ownPaths.map(firstSegment).filter((segment) => segment !== ""));
  const paths = sources.flatMap(shownPaths);
  const firsts = new Set(paths.map(firstSegment));
  const segments = new Set(paths.flatMap(segmentsOf));
  const methods = new Set<string>(sources.flatMap((source) => source.methods ?? (["POST"] as const)));
  const signed = pathsByHeader(sources);
  const secretPaths = paths.filter((path) => path.endsWith(HIDDEN));
  // A secret of the query may have slipped into the path.
  const hides = sources.some(({ schemes }) => schemes.some(isInAddress));

  /** With the last segment hidden if it may be a secret. */
  const nearestTo = (path: string) =>
    nearest(path, paths) ?? (hides ? nearest(path.replace(/[^/]*$/, "…"), secretPaths) : undefined);

  const withoutSecret = (path: string) =>
    path.replace(/[^/]+/g, (segment) => (hides && !segments.has(segment) ? "…" : segment));

  return ({ method, path, headers }: UnmatchedRequest): Stray | null => {
    if (!methods.has(method) || path.length > MAX_PATH || own.has(firstSegment(path))) return null;
    const header = Object.keys(headers).find((name) => signed.has(name));
    const [start = ""] = path.split(QUERY_IN_PATH, 1);
    const near = nearestTo(start) ?? (header === undefined ? null : (signed.get(header) ?? null));
    const isLike = near !== null || header !== undefined || firsts.has(firstSegment(path));
    return isLike ? { path: withoutSecret(start) + (start === path ? "" : "…"), near } : null;
  };
}

const HIDDEN = "/…";

/** Where a query begins whose question mark is another sign. */
const QUERY_IN_PATH = /[&;=]|%(?:26|3b|3d|3f)/i;

/** The paths of a source, with a secret in it hidden. */
function shownPaths(source: Source): string[] {
  const secret = source.schemes.some(isInPath) ? [`${source.path}${HIDDEN}`] : [];
  return source.schemes.every(isInPath) ? secret : [...pathsOf(source).deliveries, ...secret];
}

/** The path of the one source that is signed in a header; null if several are. */
function pathsByHeader(sources: readonly Source[]): Map<string, string | null> {
  const byHeader = new Map<string, string | null>();
  for (const { path, schemes } of sources) {
    // Scanners send Authorization, too.
    for (const name of new Set(schemes.flatMap(headersOf)).difference(new Set(["authorization"])))
      byHeader.set(name, byHeader.has(name) ? null : path);
  }
  return byHeader;
}
