import { provider } from "../provider.ts";

export default provider({
  title: "Drone",
  docs: "https://docs.drone.io/webhooks/overview/",
  // As its own receiver expects, https://github.com/drone/drone-go/blob/master/plugin/webhook/handler.go.
  schemes: { type: "httpsig", draft: "signature", algorithms: ["HS256"], key: "utf8" },
  type: ["header:x-drone-event"],
});
