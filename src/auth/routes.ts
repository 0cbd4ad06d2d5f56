import * as v from "valibot";
import { readJson, refuseBody } from "../http/body.ts";
import { type Handler, reply } from "../http/route.ts";
import type { Log } from "../log.ts";
import { sessionInvalidated } from "./authenticate.ts";
import type { AuthenticateRequest } from "./browser/guard.ts";
import { isEmail } from "./email.ts";
import type { Login } from "./login.ts";
import { passwordFault } from "./password-text.ts";
import type { SessionStore } from "./sessions.ts";

const LOGIN_BODY_LIMIT = 16 * 1024;

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

export const LoginAnswer = v.object({ accessToken: v.string() });
export const LogoutAnswer = v.object({ ok: v.literal(true) });
export const MeAnswer = v.object({ userId: v.string(), email: v.string() });

/**
 * Answers `POST /auth/login`: 200 with `{ accessToken }`. The body has at most 16 KiB. Throws the errors of `readJson`
 * and {@link Login}.
 */
export function loginRoute(login: Login): Handler {
  return async ({ request, requestId, address }) => {
    const credentials = await readJson(request, LoginBody, LOGIN_BODY_LIMIT);
    return reply(
      200,
      await login(credentials, { address, requestId, userAgent: request.headers["user-agent"], way: "api" }),
    );
  };
}

/**
 * Answers `POST /auth/logout`: ends the session of the token, 200 with `{ ok: true }`. Throws the errors of the guard
 * and of `refuseBody`, and `session_invalidated` when the session ends during the request.
 */
export function logoutRoute(authenticate: AuthenticateRequest, sessions: SessionStore, log: Log): Handler {
  return async ({ request, requestId, address }) => {
    const claims = await authenticate(request);
    const { sub, sid } = claims;
    await refuseBody(request);
    // The record may have changed since the guard read it, so the delete compares the sid again.
    if (!(await sessions.removeIf(sub, sid))) throw await sessionInvalidated(sessions, claims);
    log.info({ event: "session_ended", requestId, address, userId: sub }, "logged out");
    return reply(200, { ok: true });
  };
}

/** Answers `GET /auth/me`: 200 with `{ userId, email }`. Throws the errors of the guard and of `refuseBody`. */
export function meRoute(authenticate: AuthenticateRequest): Handler {
  return async ({ request }) => {
    const { sub, email } = await authenticate(request);
    await refuseBody(request);
    return reply(200, { userId: sub, email });
  };
}
