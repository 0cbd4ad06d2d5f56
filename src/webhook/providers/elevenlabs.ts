import { base62, seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "ElevenLabs",
  docs: "https://elevenlabs.io/docs/eleven-api/resources/webhooks",
  // Its package takes deliveries that are half an hour old.
  schemes: timestampedPairs("elevenlabs-signature", { label: "v0", toleranceSeconds: 1800 }),
  type: ["body:type"],
  facts: says("https://elevenlabs.io/docs/eleven-api/resources/webhooks", {
    answer: "200",
    repeats: "automatic",
    schedule: "where it is turned on, after 30 seconds and 2, 8 and 30 minutes, for 408, 429 and 5xx",
    repeatsForSeconds: 2430,
    disables: "after 10 failures in a row, if the last success is more than 7 days ago",
  }),
  evidence: { kind: "sdk", by: "@elevenlabs/elevenlabs-js@2.73.0" },
  sample: {
    type: "post_call_transcription",
    content: {
      json: ({ type, now }) => ({
        type,
        event_timestamp: seconds(now),
        data: {
          agent_id: `agent_${base62(28)}`,
          conversation_id: `conv_${base62(28)}`,
          status: "done",
          transcript: [
            { role: "agent", message: "Hello, how can I help you?", time_in_call_secs: 0 },
            { role: "user", message: "Is my order on its way?", time_in_call_secs: 4 },
          ],
          metadata: { start_time_unix_secs: seconds(now) - 22, call_duration_secs: 22, cost: 296 },
          analysis: { call_successful: "success", transcript_summary: "The caller asked for an order." },
        },
      }),
    },
  },
});
