import { integer, seconds } from "../provider/sample.ts";
import { provider } from "../provider.ts";
import { SECRET_IN_URL } from "../signature/signing.ts";

export default provider({
  title: "Docker Hub (signs nothing)",
  docs: "https://docs.docker.com/docker-hub/repos/manage/webhooks/",
  // `callback_url` in the body proves nothing: it is a legacy field (https://github.com/docker/docs/issues/23955).
  schemes: SECRET_IN_URL,
  covers: "none",
  sample: {
    // It has one type of event, without a name.
    type: "push",
    content: {
      json: ({ now }) => ({
        callback_url: `https://registry.hub.docker.com/u/acme/orders/hook/${integer(10)}/`,
        push_data: { pushed_at: seconds(now), pusher: "acme", tag: "latest" },
        repository: {
          is_private: true,
          name: "orders",
          namespace: "acme",
          owner: "acme",
          repo_name: "acme/orders",
          repo_url: "https://hub.docker.com/r/acme/orders",
          status: "Active",
        },
      }),
    },
  },
});
