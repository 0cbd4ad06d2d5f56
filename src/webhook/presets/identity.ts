import type { Preset } from "./preset.ts";
import { hmacOfBody, preset, standardPreset, timestampedPairs } from "./signing.ts";

/** Logins, background checks and compliance. */
export const IDENTITY: Record<string, Preset> = {
  checkr: preset(
    "Checkr",
    "https://docs.checkr.com/#section/Webhooks/Validating-webhooks",
    hmacOfBody("x-checkr-signature"),
    { id: ["body:id"], type: ["body:type"] },
  ),
  clerk: standardPreset("Clerk", "https://clerk.com/docs/guides/development/webhooks/overview", "svix"),
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
