import { base62, seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";

export default provider({
  title: "LiveKit",
  docs: "https://docs.livekit.io/intro/basics/rooms-participants-tracks/webhooks-events/",
  // The secret is that of the API key.
  schemes: {
    type: "jwt",
    header: "authorization",
    label: "Bearer ",
    algorithms: ["HS256"],
    bodyClaim: "sha256",
    bodyEncoding: "base64",
    needsExpiry: true,
  },
  keyName: "the API key",
  id: ["body:id"],
  type: ["body:event"],
  contentTypes: ["application/webhook+json", "application/json"],
  facts: {
    ...says("@livekit/protocol@1.51.0", { sameBytes: false, batches: false }),
    // A repeat is the same request.
    ...says(
      "https://github.com/livekit/protocol/blob/004f18c0eb00af2cae9a2da7f9f22238ad24ccab/webhook/resource_url_notifier.go",
      { repeatChanges: [], repeats: "automatic" },
    ),
  },
  evidence: { kind: "sdk", by: "livekit-server-sdk@2.19.2" },
  sample: {
    type: "participant_joined",
    newId: () => `EV_${base62(12)}`,
    content: {
      json: ({ id, type, now }) => ({
        event: type,
        room: {
          sid: `RM_${base62(12)}`,
          name: "weekly-planning",
          emptyTimeout: 300,
          creationTime: String(seconds(now)),
          numParticipants: 1,
        },
        participant: {
          sid: `PA_${base62(12)}`,
          identity: "user-4200",
          state: "ACTIVE",
          joinedAt: String(seconds(now)),
          name: "Octocat",
          permission: { canSubscribe: true, canPublish: true, canPublishData: true },
        },
        id,
        createdAt: String(seconds(now)),
      }),
    },
  },
});
