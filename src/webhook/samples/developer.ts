import { randomUUID } from "node:crypto";
import type { Template } from "./template.ts";
import { base62, hex, integer, iso, isoSeconds, messageId, seconds } from "./values.ts";

/** Source control, issues and logins. */
export const DEVELOPER: Record<string, Template> = {
  aws_sns: {
    type: "Notification",
    newId: randomUUID,
    headers: ({ type }) => ({
      "user-agent": "Amazon Simple Notification Service Agent",
      "x-amz-sns-message-type": type,
    }),
    content: {
      json: ({ id, type, now }) => ({
        Type: type,
        MessageId: id,
        TopicArn: "arn:aws:sns:eu-central-1:104839275016:orders",
        Subject: "Order paid",
        Message: JSON.stringify({ order: integer(6), total: 4200 }),
        Timestamp: iso(now),
        SignatureVersion: "2",
        Signature: "",
        SigningCertURL: "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService.pem",
        UnsubscribeURL: "https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe",
      }),
    },
  },
  clerk: {
    type: "user.created",
    newId: messageId,
    headers: ({ id }) => ({ "user-agent": "Svix-Webhooks/1.84.0", "svix-id": id }),
    content: {
      json: ({ type, now }) => {
        const addressId = `idn_${base62(27)}`;
        return {
          data: {
            id: `user_${base62(27)}`,
            object: "user",
            username: null,
            first_name: "Test",
            last_name: "User",
            image_url: "https://img.clerk.com/sample",
            has_image: false,
            primary_email_address_id: addressId,
            primary_phone_number_id: null,
            email_addresses: [
              {
                id: addressId,
                object: "email_address",
                email_address: "user@example.com",
                linked_to: [],
                verification: { status: "verified", strategy: "email_code", attempts: 1, expire_at: now + 600_000 },
              },
            ],
            phone_numbers: [],
            external_accounts: [],
            external_id: null,
            password_enabled: true,
            two_factor_enabled: false,
            public_metadata: {},
            private_metadata: {},
            unsafe_metadata: {},
            last_sign_in_at: null,
            banned: false,
            created_at: now - 1000,
            updated_at: now - 1000,
          },
          event_attributes: { http_request: { client_ip: "192.0.2.10", user_agent: "Mozilla/5.0" } },
          instance_id: "ins_2pWk7VbQz4XnRt9YcDm1HsFjLae",
          object: "event",
          timestamp: now,
          type,
        };
      },
    },
  },
  github: {
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
  linear: {
    type: "Issue",
    newId: randomUUID,
    headers: ({ id, type, now }) => ({
      "user-agent": "Linear-Webhook",
      "linear-delivery": id,
      "linear-event": type,
      "linear-timestamp": String(now),
    }),
    content: {
      json: ({ type, now }) => {
        const number = integer(3);
        const url = `https://linear.app/acme-test/issue/ENG-${number}/sample-issue`;
        const team = { id: "5d0b1c7e-94f2-4e38-a6d1-7c3f0b82e915", key: "ENG", name: "Engineering" };
        const state = { id: "c81f5a3d-20e7-4b69-9d4a-e61b37f0a528", color: "#e2e2e2", name: "Todo", type: "unstarted" };
        const actor = {
          id: "91e6b4a0-3c5d-47f8-8b12-d04a69c7e3f5",
          name: "Test User",
          email: "user@example.com",
          url: "https://linear.app/acme-test/profiles/test",
          type: "user",
        };
        return {
          action: "create",
          actor,
          createdAt: iso(now),
          data: {
            id: randomUUID(),
            createdAt: iso(now),
            updatedAt: iso(now),
            number,
            title: "Sample issue",
            priority: 2,
            sortOrder: -412.5,
            labelIds: [],
            teamId: team.id,
            previousIdentifiers: [],
            creatorId: actor.id,
            stateId: state.id,
            priorityLabel: "High",
            subscriberIds: [actor.id],
            identifier: `ENG-${number}`,
            url,
            state,
            team,
            labels: [],
          },
          url,
          type,
          organizationId: "2b7d9f10-6e3a-4c84-b5f7-18a0d3e94c62",
          webhookTimestamp: now,
          webhookId: "f4a83c52-0d17-4be9-95c6-a27e1b60d384",
        };
      },
    },
  },
};
