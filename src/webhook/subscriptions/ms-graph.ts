import { ApiError } from "../catch-up/api.ts";
import { textAt, timeOf } from "../provider/catch-up.ts";
import type { Renewal } from "./renewal.ts";
import type { Subscription } from "./store.ts";

/** The hosts of Microsoft Graph. */
export const GRAPH_ORIGINS = { auth: "https://login.microsoftonline.com", api: "https://graph.microsoft.com" };

/** The types of its notices after which a subscription must be renewed, or made again. */
export const GRAPH_CALLS: readonly string[] = ["reauthorizationRequired", "subscriptionRemoved"];

/**
 * Prolongs a subscription of Microsoft Graph, or makes a new one if there is none any more
 * (https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks).
 */
export async function renewGraph(renewal: Renewal): Promise<Subscription> {
  const { settings, current, now } = renewal;
  const headers = { authorization: `Bearer ${await accessToken(renewal)}`, "content-type": "application/json" };
  const id = current?.id ?? settings.subscription;
  const expiresAt = now + settings.lifeMs;
  const expirationDateTime = new Date(expiresAt).toISOString();
  const subscriptions = `${settings.origins.api}/v1.0/subscriptions`;

  async function prolong(known: string): Promise<unknown> {
    const url = `${subscriptions}/${encodeURIComponent(known)}`;
    try {
      return (await renewal.send({ url, method: "PATCH", headers, body: JSON.stringify({ expirationDateTime }) })).json;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return create();
      throw error;
    }
  }

  async function create(): Promise<unknown> {
    const { resource, changeType } = settings;
    const { notificationUrl, secret: clientState } = renewal;
    const lifecycle = settings.lifecycle && { lifecycleNotificationUrl: notificationUrl };
    const body = JSON.stringify({
      changeType,
      notificationUrl,
      ...lifecycle,
      resource,
      expirationDateTime,
      clientState,
    });
    return (await renewal.send({ url: subscriptions, headers, body })).json;
  }

  const answer = id === null ? await create() : await prolong(id);
  return {
    id: textAt(answer, "id") ?? id,
    resource: null,
    startedAt: now,
    expiresAt: timeOf(textAt(answer, "expirationDateTime")) ?? expiresAt,
    triedAt: now,
    error: null,
  };
}

async function accessToken({ settings, send }: Renewal): Promise<string | null> {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: settings.client ?? "",
    client_secret: settings.token,
    scope: `${GRAPH_ORIGINS.api}/.default`,
  });
  const { json } = await send({
    url: `${settings.origins.auth}/${encodeURIComponent(settings.tenant ?? "")}/oauth2/v2.0/token`,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: form.toString(),
  });
  return textAt(json, "access_token");
}
