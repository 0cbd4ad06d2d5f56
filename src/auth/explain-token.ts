import type { Person } from "./people/people.ts";
import type { SessionStore, Supersession } from "./sessions.ts";
import { type AccessClaims, readToken, verifyToken } from "./token.ts";
import { matchesUser } from "./user.ts";

/** One check of a token. `passed` is null when an earlier check failed and this one could not be made. */
interface TokenCheck {
  check: "form" | "signature" | "header" | "claims" | "issued" | "expiry" | "user" | "session";
  passed: boolean | null;
  detail: string;
}

/** Whether a token is accepted, with the checks in the order in which they are made. */
interface TokenExplanation {
  accepted: boolean;
  checks: TokenCheck[];
}

/** What a token is checked against. */
interface ExplainParts {
  /** Everybody who can log in, the person of the environment first. */
  people: readonly Person[];
  secret: string;
  previousSecret: string | undefined;
  sessions: SessionStore;
}

/** Reports which checks a token passes. The texts contain neither the token nor a secret. */
export async function explainToken(token: string, parts: ExplainParts, nowMs: number): Promise<TokenExplanation> {
  const { people, secret, previousSecret, sessions } = parts;
  const nowSeconds = Math.floor(nowMs / 1000);
  const secrets = [secret, previousSecret].filter((one) => one !== undefined);
  const { isWellFormed, signedBy, hasExactHeader, claims } = readToken(token, secrets);
  const genuine = signedBy >= 0;

  const checks: TokenCheck[] = [
    verdict("form", isWellFormed, "three parts of canonical base64url, at most 4 KiB", "not a JWT of up to 4 KiB"),
    verdict(
      "signature",
      isWellFormed ? genuine : null,
      signedBy === 1 ? "signed with JWT_SECRET_PREVIOUS" : "signed with JWT_SECRET",
      "signed with neither JWT_SECRET nor JWT_SECRET_PREVIOUS",
    ),
    verdict(
      "header",
      genuine ? hasExactHeader : null,
      "exactly alg HS256 and typ JWT",
      "not exactly alg HS256 and typ JWT",
    ),
    verdict(
      "claims",
      genuine ? claims !== null : null,
      "exactly sub, email, sid, exp and optionally iat",
      "not exactly sub, email, sid, exp and optionally iat, or one has a wrong type",
    ),
    verdict(
      "issued",
      claims && (claims.iat === undefined || claims.iat <= nowSeconds),
      claims?.iat === undefined ? "has no iat" : at("issued", claims.iat),
      at("issued in the future,", claims?.iat),
    ),
    verdict("expiry", claims && claims.exp > nowSeconds, at("expires", claims?.exp), at("expired", claims?.exp)),
    claims ? userCheck(claims, people) : verdict("user", null, "", ""),
    claims ? await sessionCheck(claims, sessions) : verdict("session", null, "", ""),
  ];
  const accepted = checks.every(({ passed }) => passed === true);
  // The first six checks are those of `verifyToken`: a token that passes them must pass it, too.
  if (accepted && verifyToken(token, secrets, nowSeconds) === null)
    throw new Error("verifyToken rejects a token that passed every check");
  return { accepted, checks };
}

function verdict(check: TokenCheck["check"], passed: boolean | null, yes: string, no: string): TokenCheck {
  return { check, passed, detail: passed === null ? "not checked" : passed ? yes : no };
}

function at(what: string, seconds: number | undefined): string {
  const time = new Date((seconds ?? 0) * 1000);
  return `${what} ${Number.isNaN(time.getTime()) ? `at ${seconds}` : time.toISOString()}`;
}

function userCheck(claims: AccessClaims, people: readonly Person[]): TokenCheck {
  const person = people.find(({ id }) => id === claims.sub);
  const others = people.length > 1 ? ", nor an id of people in the file" : "";
  if (person === undefined) return verdict("user", false, "", `its user is not DEMO_USER_ID${others}`);
  const { account, name } = person;
  const [place, email] = account === "" ? ["settings", "DEMO_EMAIL"] : ["file", `people.${name}.email`];
  const isSame = matchesUser(claims, person);
  return verdict("user", isSame, `its user and e-mail match the ${place}`, `its e-mail is not ${email}`);
}

async function sessionCheck({ sub, sid }: AccessClaims, sessions: SessionStore): Promise<TokenCheck> {
  const current = await sessions.current(sub);
  if (current === sid) return verdict("session", true, "the user's active session", "");
  const supersession = await sessions.supersession(sub, sid);
  if (supersession) return verdict("session", false, "", supersededText(supersession));
  const ended = current === null ? "the user has no active session" : "the user's active session is another one";
  return verdict("session", false, "", `${ended}; this session was ended, expired or never existed`);
}

function supersededText({ at: time, by }: Supersession): string {
  const device = by.userAgent === null ? "" : ` with ${by.userAgent}`;
  return `superseded ${new Date(time).toISOString()} by a login from ${by.network}${device}`;
}
