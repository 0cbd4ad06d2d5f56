import { randomUUID } from "node:crypto";
import { hex, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";

export default provider({
  title: "Azure DevOps",
  docs: "https://learn.microsoft.com/en-us/azure/devops/service-hooks/services/webhooks",
  schemes: { type: "basic" },
  covers: "none",
  // Several subscriptions can send the same event.
  id: [["body:subscriptionId", "body:id"], "body:id"],
  type: ["body:eventType"],
  facts: says("https://learn.microsoft.com/en-us/azure/devops/service-hooks/troubleshoot", {
    repeats: "automatic",
    schedule: "up to 8 times after 408, 502, 503 and 504, with delays that grow from 1 to 60 seconds",
    disables: "at once for 410; other lasting failures restrict the subscription",
    keepsDays: 7,
  }),
  sample: {
    type: "git.push",
    newId: randomUUID,
    headers: () => ({ "user-agent": "VSServices/20.266.36531.1" }),
    content: {
      json: ({ id, type, now }) => {
        const repository = {
          id: "278d5cd2-584d-4b63-824a-2ba458937249",
          name: "Shop",
          url: "https://dev.azure.com/example/_apis/git/repositories/278d5cd2-584d-4b63-824a-2ba458937249",
          project: { id: "6ce954b1-ce1f-45d1-b94d-e6bf2464ba2c", name: "Shop", state: "wellFormed" },
          defaultBranch: "refs/heads/main",
          remoteUrl: "https://dev.azure.com/example/Shop/_git/Shop",
        };
        const author = { name: "Test User", email: "user@example.com", date: iso(now) };
        const before = hex(40);
        const after = hex(40);
        const text = "Test User pushed updates to Shop:main.";
        return {
          subscriptionId: "d2b6c4f0-1a7e-4c39-8f65-90b3e7a1d524",
          notificationId: 42,
          id,
          eventType: type,
          publisherId: "tfs",
          message: { text, html: text, markdown: text },
          detailedMessage: { text, html: text, markdown: text },
          resource: {
            commits: [{ commitId: after, author, committer: author, comment: "Fix the cart" }],
            refUpdates: [{ name: "refs/heads/main", oldObjectId: before, newObjectId: after }],
            repository,
            pushedBy: { displayName: "Test User", id: "1d9f2c76-63a8-4e0b-bb57-5f84c0a9e3d1" },
            pushId: 14,
            date: iso(now),
            url: `${repository.url}/pushes/14`,
          },
          resourceVersion: "1.0",
          resourceContainers: {
            collection: { id: "c12d0eb8-e382-443b-9f9c-c52cba5014c2" },
            account: { id: "f844ec47-a9db-4511-8281-8b63f4eaf94e" },
            project: { id: repository.project.id },
          },
          createdDate: iso(now),
        };
      },
    },
  },
});
