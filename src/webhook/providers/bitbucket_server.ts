import type { Provider } from "../provider.ts";
import bitbucket from "./bitbucket.ts";

export default {
  ...bitbucket,
  title: "Bitbucket Server (Bitbucket)",
  aliasOf: "bitbucket",
  docs: "https://confluence.atlassian.com/bitbucketserver/manage-webhooks-938025878.html",
  // Those of Bitbucket are of its cloud.
  facts: {},
} satisfies Provider;
