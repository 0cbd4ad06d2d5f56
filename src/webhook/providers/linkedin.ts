import { hmacOf, inQuery, json } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

// Its signatures are of `hmacsha256=` and the body, with the same secret. So a challenge has no `=`; it is a UUID.
const WITHOUT_EQUALS = /^[A-Za-z0-9_-]{1,256}$/;

export default provider({
  title: "LinkedIn",
  docs: "https://learn.microsoft.com/en-us/linkedin/shared/api-guide/webhook-validation",
  schemes: hmacOfBody("x-li-signature", { signed: "hmacsha256={body}" }),
  // GET with a challenge, when the URL is registered and every two hours: the page above.
  handshake: {
    kind: "linkedin",
    json: { challengeCode: "text", challengeResponse: "text" },
    ...inQuery(
      "challengeCode",
      (challengeCode, { secret }) => json({ challengeCode, challengeResponse: hmacOf(challengeCode, secret) }),
      WITHOUT_EQUALS,
    ),
    signs: { forAnybody: true },
  },
  facts: says(
    "https://github.com/hookdeck/webhook-skills/blob/00ad8d05f1db530909e1b96b16760b5bbc9ebe69/providers.yaml",
    {
      repeats: "automatic",
      schedule: "every 5 minutes for 8 hours",
      repeatsForSeconds: 8 * 3600,
      disables: "after 3 failed checks of the URL in a row",
      keepsDays: 60,
    },
  ),
});
