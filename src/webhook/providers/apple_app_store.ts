import { randomUUID } from "node:crypto";
import { integer } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";

const NOTIFICATIONS = "https://developer.apple.com/documentation/appstoreservernotifications";

// Apple Root CA - G3 of https://www.apple.com/certificateauthority/, until 2039. Its SHA-256 begins with 63343abfb89a6a03.
const ROOT = `-----BEGIN CERTIFICATE-----
MIICQzCCAcmgAwIBAgIILcX8iNLFS5UwCgYIKoZIzj0EAwMwZzEbMBkGA1UEAwwS
QXBwbGUgUm9vdCBDQSAtIEczMSYwJAYDVQQLDB1BcHBsZSBDZXJ0aWZpY2F0aW9u
IEF1dGhvcml0eTETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwHhcN
MTQwNDMwMTgxOTA2WhcNMzkwNDMwMTgxOTA2WjBnMRswGQYDVQQDDBJBcHBsZSBS
b290IENBIC0gRzMxJjAkBgNVBAsMHUFwcGxlIENlcnRpZmljYXRpb24gQXV0aG9y
aXR5MRMwEQYDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQGEwJVUzB2MBAGByqGSM49
AgEGBSuBBAAiA2IABJjpLz1AcqTtkyJygRMc3RCV8cWjTnHcFBbZDuWmBSp3ZHtf
TjjTuxxEtX/1H7YyYl3J6YRbTzBPEVoA/VhYDKX1DyxNB0cTddqXl5dvMVztK517
IDvYuVTZXpmkOlEKMaNCMEAwHQYDVR0OBBYEFLuw3qFYM4iapIqZ3r6966/ayySr
MA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMAoGCCqGSM49BAMDA2gA
MGUCMQCD6cHEFl4aXTQY2e3v9GwOAEZLuN+yRhHFD/3meoyhpmvOwgPUnPWTxnS4
at+qIxUCMG1mihDK1A3UT82NQz60imOlM27jbdoXt2QfyFMm+YhidDkLF1vLUagM
6BgD56KyKA==
-----END CERTIFICATE-----`;

// Apple's library looks for the app in these, https://www.npmjs.com/package/@apple/app-store-server-library.
const PARTS = ["data", "summary", "externalPurchaseToken", "appData"];

export default provider({
  title: "Apple App Store",
  docs: `${NOTIFICATIONS}/app-store-server-notifications-v2`,
  schemes: {
    type: "jws",
    json: "signedPayload",
    algorithms: ["ES256"],
    // Of the certificates for receipts and of the authority that issues them. Others of the same root sign anything.
    extensions: ["1.2.840.113635.100.6.11.1", "1.2.840.113635.100.6.2.1"],
    bound: { claims: PARTS.map((part) => `${part}.bundleId`), option: "bundleId" },
  },
  keys: [ROOT],
  options: { bundleId: { is: "the bundle id of your app", without: "notifications of any app are accepted" } },
  // Nothing is beside the token.
  covers: "part",
  id: ["claim:notificationUUID"],
  type: [["claim:notificationType", "claim:subtype"], "claim:notificationType"],
  facts: {
    ...says(`${NOTIFICATIONS}/responding-to-app-store-server-notifications`, {
      batches: false,
      answer: "200 to 206",
      repeats: "automatic",
      schedule: "after 1, 12, 24, 48 and 72 hours, each after the one before; not in the sandbox",
      repeatsForSeconds: 157 * 3600,
    }),
    ...says("https://developer.apple.com/documentation/appstoreserverapi/get-notification-history", { keepsDays: 180 }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/apple/app-store-server-library-node/blob/bc5cf765f375dec9dccf1a099493bb45ad571016/tests/resources/mock_signed_data/testNotification",
  },
  sample: {
    type: "TEST",
    newId: randomUUID,
    content: {
      json: ({ id, type, now }) => ({
        // Signing makes a token of it.
        signedPayload: {
          notificationType: type,
          notificationUUID: id,
          data: {
            appAppleId: integer(10),
            bundleId: "com.example.app",
            bundleVersion: "42",
            environment: "Sandbox",
            status: 1,
          },
          version: "2.0",
          signedDate: now,
        },
      }),
    },
  },
});
