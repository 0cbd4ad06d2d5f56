import { isThere } from "../provider/handshake.ts";
import { provider } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Trello",
  docs: "https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/",
  schemes: base64OfBody("x-trello-webhook", { algorithm: "sha1", signed: "{body}{url}" }),
  id: ["body:action.id"],
  type: ["body:action.type"],
  handshake: { kind: "trello", head: isThere },
  evidence: {
    kind: "published",
    by: "https://github.com/aspnet/WebHooks/blob/9a2b0cb2f4c67bafef13cd865923250d22b22268/test/Microsoft.AspNetCore.WebHooks.Receivers.Trello.Test/Filters/TrelloVerifySignatureFilterTests.cs",
  },
});
