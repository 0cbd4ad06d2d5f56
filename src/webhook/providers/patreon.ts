import { randomUUID } from "node:crypto";
import { integer } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

const DOCUMENTATION =
  "https://github.com/Patreon/platform-documentation/blob/012fa2af1ed7f70d8e6ad4ab367d3dadf88a87a8/source/includes/_webhooks_v2.md";

export default provider({
  title: "Patreon",
  docs: "https://docs.patreon.com/#webhooks",
  schemes: hmacOfBody("x-patreon-signature", { algorithm: "md5" }),
  type: ["header:x-patreon-event"],
  dedupe: {
    mode: "off",
    why: "A new pledge sets off several triggers, and the body of each is the member, without a name or id of the event.",
    source: DOCUMENTATION,
  },
  facts: says(DOCUMENTATION, {
    repeats: "manual",
    disables: "after a delivery that failed; it keeps further events until you unpause the webhook",
  }),
  sample: {
    type: "members:pledge:create",
    headers: ({ type }) => ({ "x-patreon-event": type }),
    content: {
      json: () => {
        const id = randomUUID();
        return {
          data: {
            type: "member",
            id,
            attributes: { full_name: "Ada Example", is_follower: false, patron_status: "active_patron" },
            relationships: { user: { data: { id: String(integer(8)), type: "user" } } },
          },
          included: [],
          links: { self: `https://www.patreon.com/api/oauth2/v2/members/${id}` },
        };
      },
    },
  },
});
