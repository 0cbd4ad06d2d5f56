import { randomUUID } from "node:crypto";
import { integer, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import type { OwnPart } from "../signature/signed-text.ts";
import { keySignature } from "../signature/signing.ts";

/** The members that Amazon SNS signs, by the type of the message, in this order. */
const SNS_MESSAGES = [
  { types: ["Notification"], members: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"] },
  {
    types: ["SubscriptionConfirmation", "UnsubscribeConfirmation"],
    members: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  },
];

const OPTIONAL = "Subject";

/**
 * Name and value of each member, each with a line end. Null if one is missing that may not, or if another than the
 * first has several lines: either could be in the first one instead.
 */
function listed(names: readonly string[]): OwnPart {
  return {
    read: ({ content }) => {
      const lines: string[] = [];
      for (const [index, name] of names.entries()) {
        const value = content.member(name);
        const isText = typeof value === "string";
        if (isText ? index > 0 && value.includes("\n") : name !== OPTIONAL) return null;
        if (isText) lines.push(`${name}\n${value}\n`);
      }
      return Buffer.from(lines.join(""));
    },
    covers: { members: names },
  };
}

const HOST = /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(?:\.cn)?$/;

/** Whether a URL confirms a subscription to a topic at Amazon SNS, and does nothing else. */
export function isConfirmationUrl(text: unknown, topicArn: string | undefined): text is string {
  const url = typeof text === "string" ? URL.parse(text) : null;
  if (url === null || url.protocol !== "https:" || !HOST.test(url.host)) return false;
  const { username, password, pathname, searchParams } = url;
  const isPlain = username === "" && password === "" && pathname === "/";
  const actions = searchParams.getAll("Action");
  const topics = searchParams.getAll("TopicArn");
  return isPlain && actions.join() === "ConfirmSubscription" && topics.join() === topicArn;
}

export default provider({
  title: "Amazon SNS",
  docs: "https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html",
  schemes: (["sha256", "sha1"] as const).flatMap((algorithm) =>
    SNS_MESSAGES.map(({ types, members }) =>
      keySignature(
        "rsa",
        { json: "Signature" },
        {
          algorithm,
          signed: "{own:members}",
          parts: { members: listed(members) },
          only: { member: "Type", values: types },
          bound: { member: "TopicArn", option: "topicArn" },
        },
      ),
    ),
  ),
  options: {
    topicArn: { is: "the ARN of your topic", without: "anybody with an AWS account can send what verifies" },
  },
  // The message of a new subscription, whose SubscribeURL is to be opened:
  // https://docs.aws.amazon.com/sns/latest/dg/SendMessageToHttp.confirm.html
  handshake: {
    kind: "sns",
    confirms: {
      option: "topicArn",
      urlIn(content, topicArn) {
        if (content.member("Type") !== "SubscriptionConfirmation") return undefined;
        const url = content.member("SubscribeURL");
        return isConfirmationUrl(url, topicArn) ? url : null;
      },
    },
  },
  covers: "part",
  id: ["body:MessageId"],
  type: ["body:Type"],
  // It sends JSON as text.
  contentTypes: ["text/plain", "application/json"],
  facts: {
    ...says("https://docs.aws.amazon.com/sns/latest/dg/SendMessageToHttp.retry.html", {
      repeats: "automatic",
      schedule: "3 times, every 20 seconds, unless the subscription sets a policy",
      repeatsForSeconds: 60,
    }),
    ...says("https://docs.aws.amazon.com/sns/latest/dg/SendMessageToHttp.https.ca.html", {
      answer: "any status but 429 and 5xx",
    }),
    ...says("https://stackguides.com/questions/42726214", { answerSeconds: 15 }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/aws/aws-sdk-java-v2/blob/53b6218f41b29a942348df096a22f8a69d80fe1f/services-custom/sns-message-manager/src/test/resources/software/amazon/awssdk/messagemanager/sns/internal/test-notification-with-subject.json",
  },
  sample: {
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
});
