import { FORM } from "../content/content.ts";
import { hex, integer, iso } from "../provider/sample.ts";
import { provider } from "../provider.ts";
import { keySignature } from "../signature/signing.ts";

export default provider({
  title: "Travis CI",
  // The public key is at https://api.travis-ci.com/config, as config.notifications.webhook.public_key.
  docs: "https://docs.travis-ci.com/user/notifications/#verifying-webhook-requests",
  schemes: keySignature("rsa", "signature", { algorithm: "sha1", signed: "{form:payload}", isIdentity: true }),
  // The id of a build is the same in each of its notifications, and `type` is why it was started.
  type: ["body:status_message"],
  contentTypes: [FORM],
  sample: {
    type: "Passed",
    headers: () => ({ "travis-repo-slug": "octocat/Hello-World" }),
    content: {
      form: ({ type, now }) => {
        const id = integer(9);
        const payload = {
          id,
          number: "42",
          type: "push",
          state: type.toLowerCase(),
          status: 0,
          status_message: type,
          started_at: iso(now - 90_000),
          finished_at: iso(now),
          duration: 90,
          build_url: `https://app.travis-ci.com/github/octocat/Hello-World/builds/${id}`,
          branch: "main",
          commit: hex(40),
          message: "Fix the build",
          repository: { id: 1_296_269, name: "Hello-World", owner_name: "octocat" },
        };
        return { payload: JSON.stringify(payload) };
      },
    },
  },
});
