import { randomUUID } from "node:crypto";
import { type Content, FORM } from "../content/content.ts";
import { inMember, isThere, text } from "../provider/handshake.ts";
import { base62, base64url, integer, seconds, upperBase36 } from "../provider/sample.ts";
import { JSON_OR_FORM, provider, says } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

/** Whether a form is the check of the certificate, and has nothing else but a token. */
function isSslCheck(content: Content): boolean {
  const names = [...content.form().keys()];
  return content.form().get("ssl_check") === "1" && names.every((name) => name === "ssl_check" || name === "token");
}

export default provider({
  title: "Slack",
  docs: "https://docs.slack.dev/authentication/verifying-requests-from-slack/",
  schemes: timestamped("x-slack-signature", { header: "x-slack-request-timestamp" }, "v0:{timestamp}:{body}", {
    label: "v0=",
  }),
  id: ["body:event_id"],
  type: ["body:event.type", "body:type", "body:command"],
  contentTypes: JSON_OR_FORM,
  // A signed challenge for events, and for commands a form `ssl_check=1` that may have no signature: @slack/bolt@5.1.0
  handshake: {
    kind: "slack",
    delivery(content) {
      if (isSslCheck(content)) return isThere();
      return content.member("type") === "url_verification" ? inMember(content, "challenge", text) : null;
    },
    validation: { body: { type: FORM, isRight: isSslCheck } },
  },
  // A modal stays open with an error if the answer has a body without `response_action`.
  acknowledgement: { type: "text/plain", text: "" },
  facts: says("https://docs.slack.dev/apis/events-api/", {
    answer: "any 2xx; an empty body for a modal",
    answerSeconds: 3,
    repeats: "automatic",
    schedule: "at once, then after 1 and 5 minutes",
    repeatsForSeconds: 360,
    disables: "after failures of over 95% of the deliveries within 60 minutes",
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/slackapi/java-slack-sdk/blob/86ff7ca9915e21882def04c2d579ac02503f95fe/slack-app-backend/src/test/java/test_locally/app_backend/SlackSignatureTest.java",
  },
  sample: {
    type: "app_mention",
    newId: () => `Ev${upperBase36(9)}`,
    headers: () => ({ accept: "*/*", "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)" }),
    content: {
      json: ({ id, type, now }) => {
        const ts = `${seconds(now)}.${integer(6)}`;
        const team = "T07QK4M2XBD";
        return {
          token: base62(24),
          team_id: team,
          context_team_id: team,
          context_enterprise_id: null,
          api_app_id: "A07RN8C5WTE",
          event: {
            type,
            user: "U07P3V6ZJHS",
            ts,
            client_msg_id: randomUUID(),
            text: "<@U07S9F1YLKG> deploy the staging site",
            team,
            channel: "C07M5B8DQRN",
            event_ts: ts,
          },
          type: "event_callback",
          event_id: id,
          event_time: seconds(now),
          authorizations: [
            { enterprise_id: null, team_id: team, user_id: "U07S9F1YLKG", is_bot: true, is_enterprise_install: false },
          ],
          is_ext_shared_channel: false,
          event_context: `4-${base64url(60)}`,
        };
      },
    },
  },
});
