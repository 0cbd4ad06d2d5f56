import { randomUUID } from "node:crypto";
import { github as catchUp } from "../catch-up/github.ts";
import { JSON_OR_FORM, provider, says } from "../provider.ts";
import { hex, isoSeconds, seconds } from "../samples/template.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "GitHub",
  docs: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
  schemes: hmacOfBody("x-hub-signature-256", { label: "sha256=" }),
  id: ["header:x-github-delivery"],
  type: ["header:x-github-event"],
  contentTypes: JSON_OR_FORM,
  catchUp,
  facts: {
    ...says("https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries", {
      answerSeconds: 10,
      repeats: "manual",
    }),
    // GitHub Enterprise Server keeps them for 7 days.
    ...says("https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks", {
      keepsDays: 3,
    }),
    ...says("https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks", {
      answer: "any 2xx",
      repeatChanges: [],
    }),
    ...says("https://docs.github.com/en/webhooks/webhook-events-and-payloads", { maxBodyBytes: 25 * 1024 * 1024 }),
  },
  evidence: {
    kind: "published",
    by: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
  },
  sample: {
    type: "push",
    newId: randomUUID,
    headers: ({ id, type }) => ({
      accept: "*/*",
      "user-agent": "GitHub-Hookshot/2f4c1d7",
      "x-github-delivery": id,
      "x-github-event": type,
      "x-github-hook-id": "471920385",
      "x-github-hook-installation-target-id": "1296269",
      "x-github-hook-installation-target-type": "repository",
    }),
    content: {
      // The account and repository with which GitHub's own examples are made.
      json: ({ now }) => {
        const before = hex(40);
        const after = hex(40);
        const url = "https://github.com/octocat/Hello-World";
        const author = { name: "Octocat", email: "octocat@example.com", username: "octocat" };
        const commit = {
          id: after,
          tree_id: hex(40),
          distinct: true,
          message: "Update the readme",
          timestamp: `${isoSeconds(now - 60_000)}Z`,
          url: `${url}/commit/${after}`,
          author,
          committer: author,
          added: [],
          removed: [],
          modified: ["README.md"],
        };
        return {
          ref: "refs/heads/main",
          before,
          after,
          repository: {
            id: 1_296_269,
            node_id: "MDEwOlJlcG9zaXRvcnkxMjk2MjY5",
            name: "Hello-World",
            full_name: "octocat/Hello-World",
            private: false,
            owner: { name: "octocat", email: "octocat@example.com", login: "octocat", id: 583_231, type: "User" },
            html_url: url,
            description: null,
            fork: false,
            default_branch: "main",
            pushed_at: seconds(now),
          },
          pusher: { name: "octocat", email: "octocat@example.com" },
          sender: { login: "octocat", id: 583_231, type: "User", site_admin: false },
          created: false,
          deleted: false,
          forced: false,
          base_ref: null,
          compare: `${url}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
          commits: [commit],
          head_commit: commit,
        };
      },
    },
  },
});
