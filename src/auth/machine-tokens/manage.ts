import { DAY_MS } from "../../lib/durations.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { TOKEN_NAME } from "../../lib/name.ts";
import { type Person, personOfToken } from "../people/people.ts";
import { digestOf, newToken } from "./form.ts";
import { isOfVerify, SCOPE_NAMES, scopeOf } from "./scopes.ts";
import type { TokenRecord, TokenStore } from "./store.ts";

/** How long a token is valid unless its maker says otherwise. */
export const DEFAULT_EXPIRY_MS = 90 * DAY_MS;
/** A longer time is refused: a token without an end is asked for as such. */
const MAX_EXPIRY_MS = 36_500 * DAY_MS;
/** A token that ends within this time is reported. */
const ENDS_SOON_MS = 7 * DAY_MS;

/** A token as it is asked for. */
interface TokenRequest {
  name: string;
  scopes: readonly string[];
  /** Null: it never expires. */
  expiresInMs: number | null;
}

/** A member of a request that is not usable, and what it must be. */
interface RequestFault {
  member: keyof TokenRequest;
  expected: string;
}

/** Why a request is not usable; null if it is. */
async function faultOf(
  { name, scopes, expiresInMs }: TokenRequest,
  people: () => Promise<readonly Person[]>,
): Promise<RequestFault | null> {
  if (!TOKEN_NAME.test(name))
    return { member: "name", expected: "must have 1 to 64 small letters, digits and -, e.g. backup" };
  if (scopes.length === 0 || scopes.some((scope) => scopeOf(scope) === null))
    return { member: "scopes", expected: `must be one or more of ${SCOPE_NAMES}` };
  if (expiresInMs !== null && !(expiresInMs >= 1000 && expiresInMs <= MAX_EXPIRY_MS))
    return { member: "expiresInMs", expected: "must be at least a second and at most 36500 days" };
  return name.includes("/") ? faultOfOwn({ name, scopes }, await people()) : null;
}

/** Why a person cannot have such a token; null if that is possible. */
function faultOfOwn(
  { name, scopes }: Pick<TokenRequest, "name" | "scopes">,
  people: readonly Person[],
): RequestFault | null {
  const person = personOfToken(people, name);
  if (person === null) {
    const known = people.filter(({ account }) => account !== "").map(({ account }) => account);
    const others = known.length === 0 ? "nobody of the file can log in" : `those are ${known.join(", ")}`;
    return { member: "name", expected: `must have a person of the file before the /: ${others}` };
  }
  if (person.isOwner || scopes.every(isOfVerify)) return null;
  return { member: "scopes", expected: `must be verify or verify:HOST: ${person.name} is no owner` };
}

/** Makes a token and stores it. Its value is in the result, and nowhere else. */
export async function createToken(
  { store, people }: { store: Pick<TokenStore, "create">; people: () => Promise<readonly Person[]> },
  request: TokenRequest,
  now: number,
): Promise<{ token: string; record: TokenRecord } | RequestFault> {
  const fault = await faultOf(request, people);
  if (fault !== null) return fault;
  const { name, expiresInMs } = request;
  const token = newToken();
  const scopes = [...new Set(request.scopes.map((scope) => scopeOf(scope) as string))].sort();
  const created = { name, scopes, createdAt: now, expiresAt: expiresInMs === null ? null : now + expiresInMs };
  if (!(await store.create({ ...created, digest: digestOf(token) })))
    return { member: "name", expected: "is taken: revoke that token first, or choose another name" };
  return { token, record: { ...created, lastUsedAt: null, lastNetwork: null } };
}

/** A token as commands and the API show it. */
export function tokenJson({ name, scopes, createdAt, expiresAt, lastUsedAt, lastNetwork }: TokenRecord) {
  return {
    name,
    scopes: [...scopes],
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
    lastUsedAt: isoTime(lastUsedAt),
    lastNetwork,
  };
}

/** The tokens that end within {@link ENDS_SOON_MS}, or have ended. */
export function endingSoon(tokens: readonly TokenRecord[], now: number): { name: string; expiresAt: number }[] {
  return tokens.flatMap(({ name, expiresAt }) =>
    expiresAt !== null && expiresAt - now < ENDS_SOON_MS ? [{ name, expiresAt }] : [],
  );
}
