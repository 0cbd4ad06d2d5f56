import * as v from "valibot";
import type { ErrorCode } from "../errors.ts";
import { readJson, refuseBody } from "../http/body.ts";
import { type Endpoint, type RequestHandler, reply } from "../http/endpoint.ts";
import type { Log } from "../log.ts";
import { sessionInvalidated } from "./authenticate.ts";
import type { AuthenticateRequest } from "./browser/guard.ts";
import type { Login } from "./login.ts";
import { passwordFault } from "./password.ts";
import type { SessionStore } from "./sessions.ts";
import { isEmail } from "./user.ts";

const LOGIN_BODY_LIMIT = 16 * 1024;
const MAX_CODE_LENGTH = 64;

const LOGIN_PROBLEMS: ErrorCode[] = [
  "malformed_json",
  "validation_failed",
  "invalid_credentials",
  "payload_too_large",
  "unsupported_media_type",
  "too_many_attempts",
  "login_busy",
  "store_unavailable",
];

/** The body of a login. Lengths are in characters, not bytes. */
export const LoginBody = v.object({
  email: v.pipe(
    v.string("must be a string"),
    v.check(isEmail, "must be a valid e-mail address"),
    v.description("An e-mail address as in the HTML standard, with at most 254 characters."),
  ),
  password: v.pipe(
    v.string("must be a string"),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? passwordFault(dataset.value) : null;
      if (message !== null) addIssue({ message });
    }),
    v.description(
      "6 to 1024 characters, counted and compared in Unicode NFC, with at most 64 combining marks in a row.",
    ),
  ),
});

/** The body of a login with a second factor. */
const CodeLoginBody = v.object({
  ...LoginBody.entries,
  code: v.pipe(
    v.string("must be a string"),
    v.maxLength(MAX_CODE_LENGTH, `must have at most ${MAX_CODE_LENGTH} characters`),
    v.description("A code of the authenticator app, or a recovery code."),
  ),
});

/** What the API of sessions uses. */
export interface AuthParts {
  login: Login;
  authenticate: AuthenticateRequest;
  sessions: SessionStore;
  log: Log;
}

/** The errors of the token check, and of a body where none is accepted. */
const GUARDED: ErrorCode[] = [
  "validation_failed",
  "missing_token",
  "invalid_token",
  "session_invalidated",
  "device_not_proved",
  "cross_site_request",
  "payload_too_large",
  "unsupported_media_type",
  "store_unavailable",
];

/** The login and the session of its token, for programs. */
export function authEndpoints({ login, authenticate, sessions, log }: AuthParts): Endpoint[] {
  const loginWith =
    (Body: typeof LoginBody | typeof CodeLoginBody): RequestHandler =>
    async ({ request, requestId, address }) => {
      const credentials = await readJson(request, Body, LOGIN_BODY_LIMIT);
      const userAgent = request.headers["user-agent"];
      return reply(200, await login(credentials, { address, requestId, userAgent, way: "api" }));
    };
  return [
    {
      method: "POST",
      path: "/auth/login",
      summary: "Logs the user in and ends the previous session.",
      request: LoginBody,
      response: v.object({ accessToken: v.string() }),
      problems: [...LOGIN_PROBLEMS, "second_factor_required"],
      handler: loginWith(LoginBody),
    },
    {
      method: "POST",
      path: "/auth/login/code",
      summary: "Logs a user with a second factor in, and ends the previous session.",
      request: CodeLoginBody,
      response: v.object({ accessToken: v.string() }),
      problems: [...LOGIN_PROBLEMS, "invalid_code"],
      handler: loginWith(CodeLoginBody),
    },
    {
      method: "POST",
      path: "/auth/logout",
      summary: "Ends the session of the token.",
      isGuarded: true,
      response: v.object({ ok: v.literal(true) }),
      problems: GUARDED,
      async handler({ request, requestId, address }) {
        const claims = await authenticate(request);
        const { sub, sid } = claims;
        await refuseBody(request);
        // The record may have changed since the guard read it, so the delete compares the sid again.
        if (!(await sessions.removeIf(sub, sid))) throw await sessionInvalidated(sessions, claims);
        log.info({ event: "session_ended", requestId, address, userId: sub }, "logged out");
        return reply(200, { ok: true });
      },
    },
    {
      method: "GET",
      path: "/auth/me",
      summary: "Returns the user of the token, if its session is active.",
      isGuarded: true,
      response: v.object({ userId: v.string(), email: v.string() }),
      problems: GUARDED,
      quiet: true,
      async handler({ request }) {
        const { sub, email } = await authenticate(request);
        await refuseBody(request);
        return reply(200, { userId: sub, email });
      },
    },
  ];
}
