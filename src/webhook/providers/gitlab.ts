import { provider } from "../provider.ts";
import { standardWebhooks } from "../signing.ts";

export default provider({
  title: "GitLab",
  docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
  schemes: [standardWebhooks("webhook"), { type: "token", header: "x-gitlab-token" }],
  covers: "part",
  id: ["header:webhook-id", "header:x-gitlab-event-uuid"],
  type: ["header:x-gitlab-event", "body:object_kind"],
});
