import type { Preset } from "./preset.ts";
import {
  base64OfBody,
  hmacOfBody,
  JSON_OR_FORM,
  keySignature,
  preset,
  standardPreset,
  standardWebhooks,
  timestampedPairs,
} from "./signing.ts";

/** The members that Amazon SNS signs, by the type of the message, in this order. */
const SNS_MESSAGES = [
  { types: ["Notification"], members: "Message,MessageId,Subject,Timestamp,TopicArn,Type" },
  {
    types: ["SubscriptionConfirmation", "UnsubscribeConfirmation"],
    members: "Message,MessageId,SubscribeURL,Timestamp,Token,TopicArn,Type",
  },
];

/** Source control, builds, hosting and operations. */
export const DEVELOPER: Record<string, Preset> = {
  adobe_io: preset(
    "Adobe I/O Events",
    "https://developer.adobe.com/events/docs/guides/",
    // Two keys sign at any time; the receiver may have one of them.
    keySignature("rsa", { headers: ["x-adobe-digital-signature-1", "x-adobe-digital-signature-2"] }),
    { id: ["body:event_id"], type: ["body:event.@type"], handshake: "adobe" },
  ),
  atlassian_connect: preset(
    "Atlassian Connect",
    "https://developer.atlassian.com/cloud/jira/platform/understanding-jwt-for-connect-apps/",
    {
      type: "jwt",
      header: "authorization",
      label: "JWT ",
      algorithms: ["HS256"],
      queryClaim: "qsh",
      needsExpiry: true,
    },
    { covers: "none", id: ["header:x-atlassian-webhook-identifier"], type: ["body:webhookEvent", "body:event"] },
  ),
  aws_sns: preset(
    "Amazon SNS",
    "https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html",
    (["sha256", "sha1"] as const).flatMap((algorithm) =>
      SNS_MESSAGES.map(({ types, members }) =>
        keySignature(
          "rsa",
          { json: "Signature" },
          {
            algorithm,
            signed: `{members:${members}}`,
            only: { member: "Type", values: types },
            bound: { member: "TopicArn", option: "topicArn" },
          },
        ),
      ),
    ),
    // It sends JSON as text.
    {
      options: {
        topicArn: { is: "the ARN of your topic", without: "anybody with an AWS account can send what verifies" },
      },
      covers: "part",
      id: ["body:MessageId"],
      type: ["body:Type"],
      contentTypes: ["text/plain", "application/json"],
    },
  ),
  azure_eventgrid: preset(
    "Azure Event Grid",
    "https://learn.microsoft.com/en-us/azure/event-grid/end-point-validation-event-grid-events-schema",
    [
      { type: "token", query: "code" },
      { type: "token", header: "authorization", label: "Bearer " },
    ],
    {
      covers: "none",
      id: ["body:id", "body:0.id"],
      type: ["body:type", "body:0.eventType"],
      contentTypes: ["application/json", "application/cloudevents+json", "application/cloudevents-batch+json"],
      handshake: "event_grid",
    },
  ),
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
  cloudflare: preset(
    "Cloudflare notifications",
    "https://developers.cloudflare.com/notifications/get-started/configure-webhooks/",
    { type: "token", header: "cf-webhook-auth" },
    { covers: "none", type: ["body:alert_type"] },
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
  forgejo: preset("Forgejo", "https://forgejo.org/docs/latest/user/webhooks/", hmacOfBody("x-forgejo-signature"), {
    id: ["header:x-forgejo-delivery"],
    type: ["header:x-forgejo-event"],
  }),
  gitea: preset("Gitea", "https://docs.gitea.com/usage/webhooks", hmacOfBody("x-gitea-signature"), {
    id: ["header:x-gitea-delivery"],
    type: ["header:x-gitea-event"],
  }),
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
  gitlab: preset(
    "GitLab",
    "https://docs.gitlab.com/user/project/integrations/webhooks/",
    [standardWebhooks("webhook"), { type: "token", header: "x-gitlab-token" }],
    {
      covers: "part",
      id: ["header:webhook-id", "header:x-gitlab-event-uuid"],
      type: ["header:x-gitlab-event", "body:object_kind"],
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
  netlify: preset(
    "Netlify",
    "https://docs.netlify.com/deploy/deploy-notifications/",
    { type: "jwt", header: "x-webhook-signature", algorithms: ["HS256"], issuer: "netlify", bodyClaim: "sha256" },
    // The id of a deploy is the same in each of its notifications.
    { type: ["header:x-netlify-event", "body:state"] },
  ),
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
  terraform: preset(
    "HCP Terraform",
    "https://developer.hashicorp.com/terraform/cloud-docs/workspaces/settings/notifications",
    hmacOfBody("x-tfe-notification-signature", { algorithm: "sha512" }),
    { type: ["body:notifications.0.trigger"] },
  ),
  vercel: preset(
    "Vercel",
    "https://vercel.com/docs/webhooks/webhooks-api",
    hmacOfBody("x-vercel-signature", { algorithm: "sha1" }),
    { id: ["body:id"], type: ["body:type"] },
  ),
};
