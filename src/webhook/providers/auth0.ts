import { provider, says } from "../provider.ts";

export default provider({
  title: "Auth0 log streams",
  docs: "https://auth0.com/docs/customize/log-streams/custom-log-streams",
  schemes: { type: "token", header: "authorization" },
  covers: "none",
  id: ["body:log_id", "body:0.log_id"],
  type: ["body:data.type", "body:0.data.type"],
  // It sends JSON Lines by default, which are no JSON.
  contentTypes: ["*/*"],
  facts: {
    ...says("https://auth0.com/docs/customize/log-streams", {
      repeats: "automatic",
      schedule: "three times, then anew until it arrives",
      disables: "pauses the stream after 7 days without a delivery that arrived",
    }),
    ...says("https://auth0.com/docs/customize/log-streams/custom-log-streams", { batches: true }),
  },
});
