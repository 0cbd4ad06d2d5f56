import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Hookdeck Outpost",
  docs: "https://outpost.hookdeck.com/docs/",
  schemes: hmacOfBody("x-outpost-signature", { format: "values", label: "v0=" }),
  id: ["header:x-outpost-event-id"],
  type: ["header:x-outpost-topic"],
});
