import type { Preset } from "./preset.ts";
import { base64OfBody, hmacOfBody, JSON_OR_FORM, preset, standardPreset, timestampedPairs } from "./signing.ts";

/** Source control, builds, hosting and operations. */
export const DEVELOPER: Record<string, Preset> = {
  bitbucket: preset(
    "Bitbucket",
    "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
    hmacOfBody("x-hub-signature", { label: "sha256=" }),
    { id: ["header:x-request-uuid"], type: ["header:x-event-key"] },
  ),
  buildkite: preset(
    "Buildkite",
    "https://buildkite.com/docs/apis/webhooks/pipelines",
    timestampedPairs("x-buildkite-signature", { label: "signature", timestamp: { pair: "timestamp" } }),
    { type: ["body:event"] },
  ),
  circleci: preset(
    "CircleCI",
    "https://circleci.com/docs/guides/integration/outbound-webhooks/",
    hmacOfBody("circleci-signature", { format: "pairs", label: "v1" }),
    { id: ["body:id"], type: ["body:type"] },
  ),
  configcat: preset(
    "ConfigCat",
    "https://configcat.com/docs/advanced/notifications-webhooks/",
    base64OfBody("x-configcat-webhook-signature-v1", {
      format: "values",
      timestamp: { header: "x-configcat-webhook-timestamp" },
      signed: "{header:x-configcat-webhook-id}{timestamp}{body}",
    }),
  ),
  github: preset(
    "GitHub",
    "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
    hmacOfBody("x-hub-signature-256", { label: "sha256=" }),
    {
      id: ["header:x-github-delivery"],
      type: ["header:x-github-event"],
      contentTypes: JSON_OR_FORM,
      bodyLimitBytes: 25 * 1024 * 1024,
    },
  ),
  heroku: preset(
    "Heroku",
    "https://devcenter.heroku.com/articles/app-webhooks",
    base64OfBody("heroku-webhook-hmac-sha256"),
    { id: ["body:webhook_metadata.event.id"], type: ["body:webhook_metadata.event.include"] },
  ),
  incident_io: standardPreset(
    "incident.io",
    "https://docs.incident.io/integrations/webhooks",
    "webhook",
    "body:event_type",
  ),
  launchdarkly: preset(
    "LaunchDarkly",
    "https://launchdarkly.com/docs/home/infrastructure/webhooks",
    hmacOfBody("x-ld-signature"),
    { id: ["body:_id"], type: ["body:kind"] },
  ),
  linear: preset("Linear", "https://linear.app/developers/webhooks", hmacOfBody("linear-signature"), {
    id: ["header:linear-delivery"],
    type: ["body:type"],
  }),
  npm: preset(
    "npm",
    "https://docs.npmjs.com/cli/v10/commands/npm-hook",
    hmacOfBody("x-npm-signature", { label: "sha256=" }),
    { type: ["body:event"] },
  ),
  pagerduty: preset(
    "PagerDuty",
    "https://docs.pagerduty.com/developer/verifying-webhook-signatures",
    hmacOfBody("x-pagerduty-signature", { format: "pairs", label: "v1" }),
    { id: ["body:event.id"], type: ["body:event.event_type"] },
  ),
  render: standardPreset("Render", "https://render.com/docs/webhooks"),
  sentry: preset(
    "Sentry",
    "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
    hmacOfBody("sentry-hook-signature"),
    { type: ["header:sentry-hook-resource", "body:action"] },
  ),
  vercel: preset(
    "Vercel",
    "https://vercel.com/docs/webhooks/webhooks-api",
    hmacOfBody("x-vercel-signature", { algorithm: "sha1" }),
    { id: ["body:id"], type: ["body:type"] },
  ),
};
