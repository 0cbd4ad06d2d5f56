import { signedJwt } from "../../lib/signed-jwt.ts";
import { textAt } from "../provider/catch-up.ts";
import type { Renewal } from "./renewal.ts";
import type { Subscription } from "./store.ts";

/** The hosts of Google's APIs. */
export const GOOGLE_ORIGINS = { auth: "https://oauth2.googleapis.com", api: "https://www.googleapis.com" };

/** The form of the URL that opens a channel of Drive, Calendar or the Directory. */
export const GOOGLE_WATCH = /^\/(?:drive\/v3|calendar\/v3|admin\/directory\/v1)\/.+\/watch$/;

/**
 * Opens a new notification channel, and then ends the one before: a channel cannot be prolonged
 * (https://developers.google.com/workspace/drive/api/guides/push).
 */
export async function renewGoogle(renewal: Renewal): Promise<Subscription> {
  const { settings, current, now, notificationUrl: address, secret: token, send } = renewal;
  const headers = { authorization: `Bearer ${await accessToken(renewal)}`, "content-type": "application/json" };
  const expiresAt = now + settings.lifeMs;
  const watch = new URL(settings.watch ?? "");
  const channel = { id: renewal.newId(), type: "web_hook", address, token, expiration: String(expiresAt) };
  const { json } = await send({ url: watch.href, headers, body: JSON.stringify(channel) });
  const next = {
    id: textAt(json, "id") ?? channel.id,
    resource: textAt(json, "resourceId"),
    startedAt: now,
    expiresAt: Number(textAt(json, "expiration") ?? expiresAt),
    triedAt: now,
    error: null,
  };
  if (current?.id && current.resource !== null) {
    const [api] = /^\/(?:drive\/v3|calendar\/v3|admin\/directory\/v1)/.exec(watch.pathname) ?? [];
    // The Directory writes this path otherwise than its others.
    const url = `${settings.origins.api}${api?.replace("directory/v1", "directory_v1")}/channels/stop`;
    const body = JSON.stringify({ id: current.id, resourceId: current.resource });
    // It ends by itself soon.
    await send({ url, headers, body }).catch(() => {});
  }
  return next;
}

const SCOPES: Readonly<Record<string, string>> = {
  drive: "https://www.googleapis.com/auth/drive.readonly",
  calendar: "https://www.googleapis.com/auth/calendar.readonly",
  admin: "https://www.googleapis.com/auth/admin.directory.user.readonly",
};
const TOKEN_SECONDS = 3600;

/**
 * An access token of a service account, for its own data or those of `subject`
 * (https://developers.google.com/identity/protocols/oauth2/service-account).
 */
async function accessToken({ settings, send, now }: Renewal): Promise<string | null> {
  const { client_email: iss, private_key: key } = JSON.parse(settings.token) as Record<string, string>;
  const [, api = ""] = new URL(settings.watch ?? "").pathname.split("/");
  const iat = Math.floor(now / 1000);
  const aud = `${GOOGLE_ORIGINS.auth}/token`;
  const subject = settings.subject === null ? {} : { sub: settings.subject };
  const claims = { iss, scope: SCOPES[api], aud, iat, exp: iat + TOKEN_SECONDS, ...subject };
  const assertion = signedJwt(claims, key ?? "");
  const form = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
  const { json } = await send({
    url: `${settings.origins.auth}/token`,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: form.toString(),
  });
  return textAt(json, "access_token");
}
