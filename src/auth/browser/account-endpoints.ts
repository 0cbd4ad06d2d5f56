import * as v from "valibot";
import type { ErrorCode } from "../../errors.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import {
  type AccountParts,
  accountHandler,
  newPasskeyHandler,
  newTotpHandler,
  passkeyAddHandler,
  recoveryCodesHandler,
  removeFactorHandler,
  totpFormHandler,
} from "./account.ts";
import type { PasskeyParts } from "./visit.ts";

const HTML = "text/html";

/** What the pages have in common. Without a session they redirect to the login page, where a change needs a new one. */
const PAGE: Pick<Endpoint, "response" | "statuses" | "mediaTypes" | "problems"> = {
  response: v.string(),
  statuses: [200, 303],
  mediaTypes: { 200: HTML },
  problems: ["store_unavailable"],
};

const CHANGE_PROBLEMS: ErrorCode[] = [
  "cross_site_request",
  "validation_failed",
  "payload_too_large",
  "unsupported_media_type",
  "store_unavailable",
];

const CHANGE: Pick<Endpoint, "response" | "requestTypes" | "statuses" | "mediaTypes" | "problems"> = {
  response: v.string(),
  requestTypes: ["application/x-www-form-urlencoded"],
  statuses: [200, 303, 400],
  mediaTypes: { 200: HTML, 400: HTML },
  problems: CHANGE_PROBLEMS,
};

const Name = v.optional(v.string());

/** The pages on which the user sees the account, and changes second factors. */
export function accountEndpoints(parts: AccountParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/account",
      summary: "Shows second factors, recovery codes that are left, tokens of programs and recent logins.",
      ...PAGE,
      handler: accountHandler(parts),
    },
    {
      method: "POST",
      path: "/account/remove",
      auditAction: "factor.remove",
      summary: "Removes the second factor `id`. Changes under `/account` need a login of the last 5 minutes.",
      request: v.object({ id: v.string() }),
      ...CHANGE,
      handler: removeFactorHandler(parts),
    },
    {
      method: "POST",
      path: "/account/recovery-codes",
      auditAction: "factor.recovery_codes",
      summary: "Makes new recovery codes, and shows them this once.",
      request: v.object({}),
      ...CHANGE,
      handler: recoveryCodesHandler(parts),
    },
    {
      method: "GET",
      path: "/account/totp",
      summary: "Shows the QR code of a new authenticator app.",
      ...PAGE,
      handler: newTotpHandler(parts),
    },
    {
      method: "POST",
      path: "/account/totp",
      auditAction: "factor.add",
      summary: "Adds an authenticator app with the form fields `secret`, `code` and `name`.",
      request: v.object({ secret: v.string(), code: v.string(), name: Name }),
      ...CHANGE,
      handler: totpFormHandler(parts),
    },
    ...(parts.passkeys === null ? [] : passkeyEndpoints(parts, parts.passkeys)),
  ];
}

function passkeyEndpoints(parts: AccountParts, passkeys: PasskeyParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/account/passkey",
      summary: "Returns what a browser needs for a new passkey, and keeps its challenge in a cookie for 5 minutes.",
      response: v.objectWithRest(
        { challenge: v.string(), rp: v.object({ id: v.string(), name: v.string() }) },
        v.unknown(),
      ),
      statuses: [200, 303],
      problems: ["store_unavailable"],
      handler: newPasskeyHandler(parts, passkeys),
      quiet: true,
    },
    {
      method: "POST",
      path: "/account/passkey",
      auditAction: "factor.add",
      summary: "Adds a passkey with the form fields `answer`, what the browser has made as JSON, and `name`.",
      request: v.object({ answer: v.string(), name: Name }),
      ...CHANGE,
      handler: passkeyAddHandler(parts, passkeys),
    },
  ];
}
