import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Lemon Squeezy",
  docs: "https://docs.lemonsqueezy.com/help/webhooks/signing-requests",
  schemes: hmacOfBody("x-signature"),
  type: ["body:meta.event_name"],
  evidence: {
    kind: "published",
    by: "https://github.com/NdoleStudio/lemonsqueezy-go/blob/b0f6ba0f56cc6825f722072d4c0f79c3d4deaa0b/webhooks_service_test.go",
  },
});
