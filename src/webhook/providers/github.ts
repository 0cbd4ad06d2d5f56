import { randomUUID } from "node:crypto";
import { DAY_MS } from "../../lib/durations.ts";
import { readRsaKey, signedJwt } from "../../lib/signed-jwt.ts";
import { type CatchUpAdapter, linkOf, listOf, textAt, timeOf } from "../provider/catch-up.ts";
import { hex, isoSeconds, seconds } from "../provider/sample.ts";
import { JSON_OR_FORM, provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

// GitHub asks for a second between requests that change something
// (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api).
const PACE_MS = 1000;
const VERSION = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" };

/**
 * GitHub lists every attempt of a webhook, and repeats one when asked. The attempts of an event share a `guid`, which
 * is also the id of the delivery. It keeps them for 3 days, an Enterprise Server for 7.
 */
const catchUp: CatchUpAdapter = {
  hosts: ["api.github.com"],
  hook: {
    pattern: /^\/(?:api\/v3\/)?(?:repos\/[^/]+\/[^/]+\/hooks\/\d+|orgs\/[^/]+\/hooks\/\d+|app\/hook)$/,
    example: "https://api.github.com/repos/OWNER/REPO/hooks/1",
  },
  token: "a token with the permission to write webhooks, or with app: the private key of the app",
  hasApps: true,
  fault({ hook, token, app }) {
    const isOfApp = new URL(hook ?? "").pathname.endsWith("/app/hook");
    if (app === null) return isOfApp ? { key: "app", text: "missing, expected the id of the app" } : null;
    if (!isOfApp) return { key: "app", text: "found beside a webhook of no app, expected a token alone" };
    if (readRsaKey(token) !== null) return null;
    return { key: "token", text: "found no key, expected the app's private RSA key in PEM" };
  },
  keepsMs: 7 * DAY_MS,
  docs: "https://docs.github.com/en/rest/repos/webhooks",
  async open({ hook, token, app }, _send, now) {
    // A run may take longer than the token of an app is valid.
    const bearer = () => (app === null ? token : appToken(app, token, now()));
    const headers = () => ({ ...VERSION, authorization: `Bearer ${bearer()}` });
    // The deliveries of an app are beside the resource of its webhook.
    const deliveries = `${hook}/deliveries`;
    return {
      firstPage: () => ({ url: `${deliveries}?per_page=100`, headers: headers() }),
      readPage({ json, headers: answered }) {
        const next = linkOf(answered.link, "next");
        return { listed: listOf(json).map(listedOf), next: next === null ? null : { url: next, headers: headers() } };
      },
      redeliver: ({ id }) => ({
        url: `${deliveries}/${encodeURIComponent(id)}/attempts`,
        method: "POST",
        headers: headers(),
        paceMs: PACE_MS,
      }),
    };
  },
};

function listedOf(delivery: unknown) {
  const guid = textAt(delivery, "guid") ?? "";
  const status = Number(textAt(delivery, "status_code"));
  return {
    item: guid,
    id: textAt(delivery, "id") ?? "",
    at: timeOf(textAt(delivery, "delivered_at")),
    outcome: status >= 200 && status < 300 ? ("delivered" as const) : ("failed" as const),
    eventId: guid,
  };
}

const APP_TOKEN_SECONDS = 9 * 60;
// The clock of this machine may be ahead of GitHub's.
const BACKDATED_SECONDS = 60;

/**
 * The token of a GitHub App, which it makes with its private key
 * (https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app).
 */
function appToken(app: string, key: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  return signedJwt({ iat: seconds - BACKDATED_SECONDS, exp: seconds + APP_TOKEN_SECONDS, iss: app }, key);
}

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
