import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { splitJws } from "../../lib/compact-jws.ts";
import { trimSpace } from "../../lib/header-value.ts";
import { splitTarget } from "../../lib/request-target.ts";
import { storedHeaders } from "../content/stored-headers.ts";
import type { SignatureSettings } from "../signature/bound-scheme.ts";
import { MAX_TOKEN_LENGTH } from "../signature/jwt.ts";
import { headersOf, type IdPlace, isInPath, isSecretField, isSigned, type Scheme } from "../signature/schemes.ts";
import { givenIn, type InHeader, writtenWith } from "../signature/shared-secret.ts";
import { withoutScheme } from "../signature/signature-items.ts";
import { parseSignedText } from "../signature/signed-text.ts";

/** What of a delivery may hold credentials: its headers as Node has them, and its target. */
interface Carriers {
  headers: IncomingHttpHeaders;
  target: string;
}

/** What of a source tells which headers and which part of the target it needs. */
interface Needing extends Pick<SignatureSettings, "schemes"> {
  id: readonly (IdPlace | "bytes")[];
  type: readonly IdPlace[];
  path: string;
}

/**
 * What is kept of a refused delivery: the headers that events keep and those that a signature needs, as JSON, and of
 * the target what a signature covers. A token or password is replaced by its SHA-256, which tells later whether it was
 * right.
 */
export function withoutCredentials(
  { schemes, id, type, path }: Needing,
  { headers, target }: Carriers,
): { headers: string; target: string } {
  const needed = new Set([...schemes.flatMap(neededHeaders), ...[...id, ...type].flat().flatMap(headerAt)]);
  const kept = JSON.parse(storedHeaders(headers, new Set(schemes.flatMap(headersOf)))) as Record<string, string>;
  for (const name of new Set([...needed, ...schemes.flatMap(headersOf)])) {
    const value = headers[name];
    if (typeof value !== "string") continue;
    if (needed.has(name) || isToken(schemes, name, value)) kept[name] = value;
    else {
      const digests = sharedIn(schemes, name).flatMap((scheme) => digestOf(givenIn(scheme, value)));
      if (digests.length > 0) kept[name] = digests.join(",");
    }
  }
  return { headers: JSON.stringify(kept), target: keptTarget(schemes, path, target) };
}

/**
 * Puts the secrets of a source back whose digests `withoutCredentials` has kept. Others stay digests, which verify
 * nothing.
 */
export function withCredentials(
  { schemes, secrets }: Pick<SignatureSettings, "schemes" | "secrets">,
  kept: Carriers,
): Carriers {
  const secretOf = (digest: string) => secrets.find(({ value }) => digestOf(Buffer.from(value))[0] === digest)?.value;
  const headers = { ...kept.headers };
  for (const name of new Set(schemes.flatMap(headersOf))) {
    const digests = kept.headers[name];
    if (typeof digests !== "string") continue;
    const found = digests.split(",").flatMap((digest) => secretOf(digest) ?? []);
    const written = sharedIn(schemes, name).flatMap((scheme) => found.map((value) => writtenWith(scheme, value)));
    if (written[0] !== undefined) headers[name] = written[0];
  }
  const restored = (text: string) => encodeURIComponent(secretOf(text) ?? text);
  return { headers, target: withSecretsIn(schemes, kept.target, restored) };
}

function digestOf(given: Uint8Array | null): string[] {
  return given === null ? [] : [`sha256:${hash("sha256", given)}`];
}

/** The headers without which a signature cannot be verified. */
function neededHeaders(scheme: Scheme): readonly string[] {
  if (scheme.type === "detached-jws") return headersOf(scheme);
  if (scheme.type === "httpsig") return [...headersOf(scheme), "content-digest", "digest", "date"];
  if (!isSigned(scheme)) return [];
  const time = scheme.timestamp && "header" in scheme.timestamp ? [scheme.timestamp.header] : [];
  return [...headersOf(scheme), ...time, ...parseSignedText(scheme).covered.headers];
}

function headerAt(place: string): string[] {
  return place.startsWith("header:") ? [place.slice("header:".length)] : [];
}

/** Whether a header has a signed token of a scheme. It is verified by its text. */
function isToken(schemes: readonly Scheme[], name: string, value: string): boolean {
  return schemes.some(
    (scheme) =>
      scheme.type === "jwt" &&
      scheme.header === name &&
      splitJws(trimSpace(withoutScheme(value, scheme.label)), MAX_TOKEN_LENGTH) !== null,
  );
}

/** The schemes whose secret is in a header itself. */
function sharedIn(schemes: readonly Scheme[], header: string): InHeader[] {
  return schemes.filter(
    (scheme): scheme is InHeader =>
      (scheme.type === "basic" || (scheme.type === "token" && "header" in scheme)) &&
      headersOf(scheme).includes(header),
  );
}

function coversAddress(scheme: Scheme): boolean {
  if (scheme.type === "detached-jws") return scheme.payload !== undefined;
  if (!isSigned(scheme)) return scheme.type === "jwt" || scheme.type === "httpsig";
  const { only, bodyHash } = scheme;
  const readsQuery = only && "mediaType" in only && only.withoutQuery !== undefined;
  return readsQuery || bodyHash !== undefined || parseSignedText(scheme).hasAddress;
}

function keptTarget(schemes: readonly Scheme[], path: string, target: string): string {
  const [sent = ""] = target.split("?", 1);
  const inPath = sent !== path && schemes.some(isInPath);
  const digest = (text: string) => digestOf(Buffer.from(text)).join();
  const hidden = withSecretsIn(inPath ? schemes : schemes.filter((scheme) => !isInPath(scheme)), target, digest);
  if (schemes.some(coversAddress)) return hidden;
  const [rest = "", query = ""] = hidden.split("?");
  const fields = query.split("&").filter((field) => isSecretField(schemes, field));
  return fields.length === 0 ? rest : `${rest}?${fields.join("&")}`;
}

/** Changes the secrets in a target, where schemes have them: as the last segment of the path, and as parameters. */
function withSecretsIn(schemes: readonly Scheme[], target: string, change: (text: string) => string): string {
  const [path, query] = splitTarget(target);
  const start = path.lastIndexOf("/") + 1;
  const changed = schemes.some(isInPath) ? path.slice(0, start) + change(decoded(path.slice(start))) : path;
  if (query === undefined) return changed;
  const fields = query.split("&").map((field) => {
    if (!isSecretField(schemes, field)) return field;
    const [[name, value] = ["", ""]] = [...new URLSearchParams(field)];
    return `${encodeURIComponent(name)}=${change(value)}`;
  });
  return `${changed}?${fields.join("&")}`;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
