import { provider } from "../provider.ts";
import { says } from "../provider-facts.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "LinkedIn",
  docs: "https://learn.microsoft.com/en-us/linkedin/shared/api-guide/webhook-validation",
  schemes: hmacOfBody("x-li-signature", { signed: "hmacsha256={body}" }),
  // GET with a challenge, when the URL is registered and every two hours: the page above.
  handshake: "linkedin",
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
