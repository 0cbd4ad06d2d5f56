import type { Preset } from "./preset.ts";
import { base64OfBody, hmacOfBody, preset, standardWebhooks, timestampedPairs } from "./signing.ts";

/** Tasks, calendars, documents and staff. */
export const WORK: Record<string, Preset> = {
  airtable: preset(
    "Airtable",
    "https://airtable.com/developers/web/api/webhooks-overview",
    hmacOfBody("x-airtable-content-mac", { label: "hmac-sha256=", key: "base64" }),
  ),
  asana: preset("Asana", "https://developers.asana.com/docs/webhooks-guide", hmacOfBody("x-hook-signature")),
  ashby: preset(
    "Ashby",
    "https://developers.ashbyhq.com/docs/authenticating-webhooks",
    hmacOfBody("ashby-signature", { label: "sha256=" }),
    { type: ["body:action"] },
  ),
  atlassian_jira: preset(
    "Jira",
    "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
    hmacOfBody("x-hub-signature", { label: "sha256=" }),
    { id: ["header:x-atlassian-webhook-identifier"], type: ["body:webhookEvent"] },
  ),
  autodesk_aps: preset(
    "Autodesk Platform Services",
    "https://aps.autodesk.com/en/docs/webhooks/v1/tutorials/how-to-verify-payload-signature/",
    hmacOfBody("x-adsk-signature", { label: "sha1hash=", algorithm: "sha1" }),
    { id: ["header:x-adsk-delivery-id"], type: ["body:hook.event"] },
  ),
  cal_com: preset(
    "Cal.com",
    "https://cal.com/docs/developing/guides/automation/webhooks",
    hmacOfBody("x-cal-signature-256"),
    { type: ["body:triggerEvent"] },
  ),
  calendly: preset(
    "Calendly",
    "https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures",
    timestampedPairs("calendly-webhook-signature"),
    { type: ["body:event"] },
  ),
  clickup: preset("ClickUp", "https://developer.clickup.com/docs/webhooksignature", hmacOfBody("x-signature"), {
    id: ["body:history_items.0.id"],
    type: ["body:event"],
  }),
  cronofy: preset(
    "Cronofy",
    "https://docs.cronofy.com/developers/push-notifications/authentication/",
    base64OfBody("cronofy-hmac-sha256", { format: "values" }),
    { type: ["body:notification.type"] },
  ),
  deel: preset(
    "Deel",
    "https://developer.deel.com/api/webhooks/quickstart",
    hmacOfBody("x-deel-signature", { signed: "POST{body}" }),
    { type: ["body:data.meta.event_type"] },
  ),
  docusign: preset(
    "DocuSign",
    "https://developers.docusign.com/platform/webhooks/connect/validate/",
    // One header for each of the account's keys.
    base64OfBody({ headers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((number) => `x-docusign-signature-${number}`) }),
    // The envelope's id is the same in each of its events.
    { type: ["body:event"] },
  ),
  finch: preset(
    "Finch",
    "https://developer.tryfinch.com/developer-resources/Webhooks",
    standardWebhooks("webhook", {
      signature: { headers: ["finch-signature"] },
      timestamp: { header: "finch-timestamp" },
      signed: "{header:finch-event-id}.{timestamp}.{body}",
    }),
    { id: ["header:finch-event-id"], type: ["body:event_type"] },
  ),
  merge_dev: preset(
    "Merge",
    "https://docs.merge.dev/basics/webhooks/overview/",
    hmacOfBody("x-merge-webhook-signature", { encodings: ["base64url"] }),
    { type: ["body:hook.event"] },
  ),
  monday: preset(
    "monday.com",
    "https://developer.monday.com/api-reference/reference/webhooks",
    { type: "jwt", header: "authorization", algorithms: ["HS256"], audience: "url", needsExpiry: true },
    { covers: "none", id: ["body:event.triggerUuid"], type: ["body:event.type"], handshake: "monday" },
  ),
  ms_graph: preset(
    "Microsoft Graph",
    "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
    { type: "token", each: "value", json: "clientState" },
    { covers: "none", type: ["body:value.0.changeType", "body:value.0.lifecycleEvent"], handshake: "ms_graph" },
  ),
  notion: preset(
    "Notion",
    "https://developers.notion.com/reference/webhooks",
    hmacOfBody("x-notion-signature", { label: "sha256=" }),
    { id: ["body:id"], type: ["body:type"] },
  ),
  trello: preset(
    "Trello",
    "https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/",
    base64OfBody("x-trello-webhook", { algorithm: "sha1", signed: "{body}{url}" }),
    { id: ["body:action.id"], type: ["body:action.type"], handshake: "trello" },
  ),
};
