import https from "node:https";
import { Readable } from "node:stream";
import { mock } from "node:test";
import { type Delivery, hmac256, type Package, type Provider, seconds } from "./delivery.ts";
import { RSA_CERTIFICATE, RSA_PUBLIC_PEM, signRsa } from "./keys.ts";

const ADYEN_KEY = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";

const adyenItem = (pspReference: string, amount: number) => ({
  additionalData: {},
  eventCode: "AUTHORISATION",
  success: "true",
  eventDate: "2026-09-01T12:00:00+02:00",
  merchantAccountCode: "ExampleMerchant",
  pspReference,
  originalReference: "",
  merchantReference: "Bestellung Zoë 7",
  amount: { currency: "EUR", value: amount },
});

const SNS_NOTIFICATION = {
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  TopicArn: "arn:aws:sns:us-west-2:123456789012:MyTopic",
  Subject: "Zoë",
  Message: JSON.stringify({ amount: 4200 }),
  Timestamp: "2026-09-01T12:00:00.000Z",
};

const SNS_ADDRESSES = {
  SigningCertURL: "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem",
  UnsubscribeURL: "https://sns.us-west-2.amazonaws.com/?Action=Unsubscribe",
};

const dropboxEvent = (apiKey: string, at: number) => {
  const event = { event_time: seconds(at), event_type: "signature_request_signed", event_metadata: {} };
  return { ...event, event_hash: hmac256(apiKey, "hex", event.event_time + event.event_type) };
};

/** Providers with the signature in the body. */
export const inBody: Provider[] = [
  {
    preset: "adyen",
    package: "@adyen/api-library",
    how: "signed",
    secret: ADYEN_KEY,
    send: (lib, secret) => {
      const validator = new lib.hmacValidator();
      const notificationItems = [adyenItem("7914073381342284", 4200), adyenItem("8914073381342284", 50)].map(
        (item) => ({
          NotificationRequestItem: {
            ...item,
            additionalData: { hmacSignature: validator.calculateHmac(item, secret) },
          },
        }),
      );
      return { body: JSON.stringify({ live: "false", notificationItems }) };
    },
    accepts: (lib, { body }, secret) =>
      (JSON.parse(body) as AdyenNotification).notificationItems.every(({ NotificationRequestItem: item }) =>
        new lib.hmacValidator().validateHMAC(item, secret),
      ),
  },
  {
    preset: "aws_sns",
    package: "sns-validator",
    how: "checked",
    keys: [RSA_PUBLIC_PEM],
    send: () => {
      const signed = Object.entries(SNS_NOTIFICATION)
        .sort()
        .map((pair) => `${pair.join("\n")}\n`);
      const message = {
        ...SNS_NOTIFICATION,
        SignatureVersion: "2",
        Signature: signRsa(signed.join("")),
        ...SNS_ADDRESSES,
      };
      return {
        headers: { "content-type": "text/plain; charset=UTF-8", "x-amz-sns-message-type": "Notification" },
        body: JSON.stringify(message),
      };
    },
    accepts: snsAccepts,
  },
  {
    preset: "dropbox_sign",
    package: "@dropbox/sign",
    how: "checked",
    secret: "f1e2d3c4b5a697887766554433221100ffeeddccbbaa99887766554433221100",
    send: (_lib, secret, at) => {
      const json = JSON.stringify({
        event: dropboxEvent(secret, at),
        account_guid: "63522885f9261e2b04eea043933ee7313eb674fd",
      });
      const body = ["--xYzZY", 'Content-Disposition: form-data; name="json"', "", json, "--xYzZY--", ""].join("\r\n");
      return { headers: { "content-type": "multipart/form-data; boundary=xYzZY" }, body };
    },
    accepts: (lib, { body }, secret) => {
      const { EventCallbackHelper, EventCallbackRequest } = lib;
      return EventCallbackHelper.isValid(secret, EventCallbackRequest.init(JSON.parse(/\{.*\}/.exec(body)?.[0] ?? "")));
    },
    alter: (delivery) => ({ ...delivery, body: delivery.body.replace("request_signed", "request_declined") }),
  },
];

interface AdyenNotification {
  notificationItems: { NotificationRequestItem: object }[];
}

/** The package fetches the certificate of the key, which is answered here. */
async function snsAccepts(lib: Package, { body }: Delivery): Promise<boolean> {
  const answered = mock.method(https, "get", (_url: string, respond: (answer: object) => void) => {
    respond(Object.assign(Readable.from([RSA_CERTIFICATE]), { statusCode: 200 }));
    return new Readable();
  });
  try {
    const MessageValidator = lib.default;
    return await new Promise((resolve) =>
      new MessageValidator().validate(body, (error: Error | null) => resolve(error === null)),
    );
  } finally {
    answered.mock.restore();
  }
}
