import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { isConfirmationUrl } from "../../../src/webhook/providers/aws_sns.ts";
import { dir, faultsOf, sourceIn } from "../../helpers/config-file.ts";
import { serveSource } from "../../helpers/serve-source.ts";

const amazon = generateKeyPairSync("rsa", { modulusLength: 2048 });
writeFileSync(join(dir, "sns.pem"), amazon.publicKey.export({ format: "pem", type: "spki" }));

const TOPIC = "arn:aws:sns:us-west-2:123456789012:MyTopic";
const TOKEN =
  "2336412f37fb687f5d51e6e241d09c805a5a57b30d712f794cc5f6a988666d92768dd60a747ba6f3beb71854e285d6ad02428b09";
const URL_OF_TOPIC = `https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=${TOKEN}`;
const ENTRY = `{ preset: aws_sns, keys: [file:sns.pem], options: { topicArn: "${TOPIC}" }, handshake: { confirm: true } }`;

// https://docs.aws.amazon.com/sns/latest/dg/http-subscription-confirmation-json.html
const CONFIRMATION = {
  Type: "SubscriptionConfirmation",
  MessageId: "165545c9-2a5c-472c-8df2-7ff2be2b3b1b",
  Token: TOKEN,
  TopicArn: TOPIC,
  Message: `You have chosen to subscribe to the topic ${TOPIC}.`,
  SubscribeURL: URL_OF_TOPIC,
  Timestamp: "2012-04-26T20:45:04.751Z",
  SignatureVersion: "2",
};

function signed(message: Record<string, string>): RequestInit {
  const names = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const text = names.flatMap((name) => (message[name] === undefined ? [] : [name, message[name]])).join("\n");
  const Signature = sign("sha256", Buffer.from(`${text}\n`), amazon.privateKey).toString("base64");
  return {
    method: "POST",
    body: JSON.stringify({ ...message, Signature }),
    headers: { "Content-Type": "text/plain; charset=UTF-8", "X-Amz-Sns-Message-Type": message.Type ?? "" },
  };
}

/** Amazon's answers to GET, with the addresses that were asked for. */
function amazonAnswering(status = 200) {
  const opened: string[] = [];
  async function openUrl(url: string): Promise<number> {
    opened.push(url);
    return status;
  }
  return { opened, openUrl };
}

suite("a subscription of Amazon SNS", () => {
  test("is confirmed with one GET, and stored", async (t) => {
    const { opened, openUrl } = amazonAnswering();
    const { send, stored, named } = await serveSource(t, ENTRY, { openUrl });
    assert.equal((await send(signed(CONFIRMATION))).status, 200);
    assert.deepEqual(opened, [URL_OF_TOPIC]);
    assert.deepEqual(
      stored.map(({ type }) => type),
      ["SubscriptionConfirmation"],
    );
    const [line] = named("subscription_confirmed");
    assert.equal(line?.source, "shop");
    assert.doesNotMatch(JSON.stringify(line), new RegExp(TOKEN));
  });

  test("is confirmed only with a right signature, of its topic, and never when it ends", async (t) => {
    const { opened, openUrl } = amazonAnswering();
    const { send } = await serveSource(t, ENTRY, { openUrl });
    const forged = signed(CONFIRMATION);
    const body = String(forged.body).replace("us-west-2.amazonaws", "eu-west-1.amazonaws");
    assert.equal((await send({ ...forged, body })).status, 403);
    const other = "arn:aws:sns:us-west-2:999999999999:MyTopic";
    const ofOther = { TopicArn: other, SubscribeURL: URL_OF_TOPIC.replace(TOPIC, other) };
    assert.equal((await send(signed({ ...CONFIRMATION, ...ofOther }))).status, 403);
    assert.equal((await send(signed({ ...CONFIRMATION, Type: "UnsubscribeConfirmation" }))).status, 200);
    assert.deepEqual(opened, []);
  });

  test("is not confirmed without confirm", async (t) => {
    const openUrl = () => assert.fail("opened a URL");
    const entry = ENTRY.replace(", handshake: { confirm: true }", "");
    const { send, stored } = await serveSource(t, entry, { openUrl });
    assert.equal((await send(signed(CONFIRMATION))).status, 200);
    assert.equal(stored.length, 1);
  });

  test("that Amazon does not confirm is stored and logged, and asked for again if that may help", async (t) => {
    for (const [openUrl, status, error] of [
      [async () => 302, 200, "the answer was 302"],
      [async () => 403, 200, "the answer was 403"],
      [async () => 500, 503, "the answer was 500"],
      [() => Promise.reject(new Error("no response in time")), 503, "no response in time"],
    ] as const) {
      const { send, stored, named } = await serveSource(t, ENTRY, { openUrl });
      assert.equal((await send(signed(CONFIRMATION))).status, status, error);
      assert.equal(stored.length, 1);
      const [line] = named("subscription_not_confirmed");
      assert.match(String(line?.error), new RegExp(error));
    }
  });

  test("with another URL than Amazon's is not confirmed", async (t) => {
    const openUrl = () => assert.fail("opened a URL");
    const { send, named } = await serveSource(t, ENTRY, { openUrl });
    const SubscribeURL = URL_OF_TOPIC.replace("sns.us-west-2.amazonaws.com", "sns.us-west-2.amazonaws.com.example");
    assert.equal((await send(signed({ ...CONFIRMATION, SubscribeURL }))).status, 200);
    assert.equal(named("subscription_not_confirmed").length, 1);
  });
});

test("a URL confirms a subscription only at Amazon SNS, by https, and to the topic", () => {
  const query = `?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=${TOKEN}`;
  for (const right of [URL_OF_TOPIC, `https://sns.cn-north-1.amazonaws.com.cn/${query}`])
    assert.equal(isConfirmationUrl(right, TOPIC), true, right);
  for (const wrong of [
    URL_OF_TOPIC.replace("https", "http"),
    `https://sns.us-west-2.amazonaws.com:8443/${query}`,
    `https://user@sns.us-west-2.amazonaws.com/${query}`,
    `https://evil.example/sns.us-west-2.amazonaws.com/${query}`,
    `https://sns.us-west-2.amazonaws.com.evil.example/${query}`,
    `https://sns.evil.example/.amazonaws.com/${query}`,
    `https://bucket.s3.amazonaws.com/${query}`,
    `https://sns.us-west-2.amazonaws.com/path${query}`,
    `https://sns.us-west-2.amazonaws.com\\@evil.example/${query}`,
    `https://evil.example\\@sns.us-west-2.amazonaws.com/${query}`,
    URL_OF_TOPIC.replace("ConfirmSubscription", "Unsubscribe"),
    `${URL_OF_TOPIC}&Action=Publish`,
    `${URL_OF_TOPIC}&TopicArn=other`,
    "",
    "sns.us-west-2.amazonaws.com",
    undefined,
    7,
  ])
    assert.equal(isConfirmationUrl(wrong, TOPIC), false, String(wrong));
  assert.equal(isConfirmationUrl(URL_OF_TOPIC, undefined), false);
});

test("a source confirms subscriptions only to a topic that it names", () => {
  assert.deepEqual(sourceIn(ENTRY).handshake, { kind: "sns" });
  const without = "{ preset: aws_sns, keys: [file:sns.pem], handshake: { confirm: true } }";
  assert.match(
    faultsOf(without).join(),
    /^handshake\.confirm: found without options\.topicArn, expected what to confirm/,
  );
  for (const other of ["true", "{ token: env:OTHER }", "{ confirm: true, token: env:OTHER }"])
    assert.match(
      faultsOf(ENTRY.replace("{ confirm: true }", other)).join(),
      /^handshake: found .*expected \{ confirm: true \}/,
    );
  const elsewhere = "{ preset: slack, secrets: [env:SECRET], handshake: { confirm: true } }";
  assert.match(faultsOf(elsewhere).join(), /^handshake\.confirm: found without a preset that asks for it/);
});
