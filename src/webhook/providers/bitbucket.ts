import type { Content } from "../content/content.ts";
import { hasOnly } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

const isTest = (content: Content) => hasOnly(content, "test") && content.member("test") === true;

export default provider({
  title: "Bitbucket",
  docs: "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
  schemes: hmacOfBody("x-hub-signature", { label: "sha256=" }),
  id: ["header:x-request-uuid"],
  type: ["header:x-event-key"],
  // `diagnostics:ping` of "Test connection" has no signature:
  // https://github.com/go-playground/webhooks/blob/02d182ac47693b5f7263de2ba7bd46607c80aed8/bitbucket-server/bitbucketserver.go
  handshake: {
    kind: "bitbucket",
    validation: {
      asks: ({ headers }) => headers["x-event-key"] === "diagnostics:ping",
      body: { type: "application/json", isRight: isTest },
    },
  },
  facts: says("https://support.atlassian.com/bitbucket-cloud/docs/troubleshoot-webhooks/", {
    answerSeconds: 10,
    repeats: "automatic",
    schedule: "up to twice, after a status from 500 on",
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/go-playground/webhooks/blob/02d182ac47693b5f7263de2ba7bd46607c80aed8/bitbucket-server/bitbucketserver_test.go",
  },
});
