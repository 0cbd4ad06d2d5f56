import { FORM } from "../content/content.ts";
import { isThere } from "../provider/handshake.ts";
import { hex, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { SECRET_IN_URL } from "../signature/signing.ts";

const GUIDE = "https://mailchimp.com/developer/marketing/guides/sync-audience-data-webhooks/";

export default provider({
  title: "Mailchimp (signs nothing)",
  docs: GUIDE,
  schemes: SECRET_IN_URL,
  covers: "none",
  type: ["body:type"],
  contentTypes: [FORM],
  // It asks for the URL by GET when a webhook is saved:
  // https://github.com/hookdeck/webhook-skills/blob/11c15ba5ab6b969339cdf7c58c92c036217cf9c7/skills/mailchimp-webhooks/references/verification.md
  handshake: { kind: "mailchimp", get: isThere },
  facts: says(GUIDE, {
    answerSeconds: 10,
    repeats: "automatic",
    schedule: "at growing intervals",
    repeatsForSeconds: 75 * 60,
    disables: "after many failures or slow answers, as Mailchimp decides",
  }),
  sample: {
    type: "subscribe",
    content: {
      form: ({ type, now }) => ({
        type,
        fired_at: isoSeconds(now).replace("T", " "),
        "data[id]": hex(10),
        "data[list_id]": hex(10),
        "data[email]": "ada@example.com",
        "data[email_type]": "html",
        "data[ip_opt]": "192.0.2.7",
        "data[merges][EMAIL]": "ada@example.com",
        "data[merges][FNAME]": "Ada",
        "data[merges][LNAME]": "Example",
      }),
    },
  },
});
