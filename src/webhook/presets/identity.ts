import type { Preset } from "./preset.ts";
import { hmacOfBody, preset, standardPreset, standardSchemes, timestampedPairs } from "./signing.ts";

/** Logins, background checks and compliance. */
export const IDENTITY: Record<string, Preset> = {
  auth0: preset(
    "Auth0 log streams",
    "https://auth0.com/docs/customize/log-streams/custom-log-streams",
    { type: "token", header: "authorization" },
    { covers: "none", id: ["body:log_id", "body:0.log_id"], type: ["body:data.type", "body:0.data.type"] },
  ),
  checkr: preset(
    "Checkr",
    "https://docs.checkr.com/#section/Webhooks/Validating-webhooks",
    hmacOfBody("x-checkr-signature"),
    { id: ["body:id"], type: ["body:type"] },
  ),
  clerk: preset("Clerk", "https://clerk.com/docs/guides/development/webhooks/overview", standardSchemes("svix"), {
    id: ["header:svix-id"],
    type: ["body:type"],
  }),
  okta: preset(
    "Okta",
    "https://developer.okta.com/docs/concepts/event-hooks/",
    { type: "token", header: "authorization" },
    { covers: "none", id: ["body:eventId"], type: ["body:data.events.0.eventType"], handshake: "okta" },
  ),
  persona: preset(
    "Persona",
    "https://docs.withpersona.com/docs/webhooks-best-practices",
    // While a secret is being rotated, there is one group for each.
    timestampedPairs("persona-signature", { groupSeparator: " " }),
    { id: ["body:data.id"], type: ["body:data.attributes.name"] },
  ),
  stytch: standardPreset("Stytch", "https://stytch.com/docs/guides/webhooks", "svix"),
  vanta: standardPreset("Vanta", "https://developer.vanta.com/docs/webhooks", "svix"),
  workos: preset(
    "WorkOS",
    "https://workos.com/docs/events/data-syncing/webhooks",
    timestampedPairs("workos-signature", { timestamp: { pair: "t", unit: "ms" } }),
    { id: ["body:id"], type: ["body:event"] },
  ),
};
