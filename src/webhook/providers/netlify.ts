import { provider } from "../provider.ts";

export default provider({
  title: "Netlify",
  docs: "https://docs.netlify.com/deploy/deploy-notifications/",
  schemes: {
    type: "jwt",
    header: "x-webhook-signature",
    algorithms: ["HS256"],
    issuer: "netlify",
    bodyClaim: "sha256",
  },
  // The id of a deploy is the same in each of its notifications.
  type: ["header:x-netlify-event", "body:state"],
});
