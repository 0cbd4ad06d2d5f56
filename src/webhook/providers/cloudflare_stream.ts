import { hex, iso } from "../provider/sample.ts";
import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Cloudflare Stream",
  docs: "https://developers.cloudflare.com/stream/manage-video-library/using-webhooks/",
  schemes: hmacOfBody("webhook-signature", {
    format: "pairs",
    label: "sig1",
    timestamp: { pair: "time" },
    signed: "{timestamp}.{body}",
  }),
  // The id of a video is the same in each of its states.
  type: ["body:status.state"],
  sample: {
    type: "ready",
    content: {
      json: ({ type, now }) => {
        const uid = hex(32);
        const url = `https://customer-m033z5x00ks6nunl.cloudflarestream.com/${uid}`;
        return {
          uid,
          creator: null,
          thumbnail: `${url}/thumbnails/thumbnail.jpg`,
          thumbnailTimestampPct: 0,
          readyToStream: true,
          status: { state: type, pctComplete: "100.000000", errorReasonCode: "", errorReasonText: "" },
          meta: { filename: "small.mp4", filetype: "video/mp4", name: "small.mp4" },
          created: iso(now - 60_000),
          modified: iso(now),
          size: 383_631,
          preview: `${url}/watch`,
          allowedOrigins: [],
          requireSignedURLs: false,
          uploaded: iso(now - 59_000),
          uploadExpiry: iso(now + 3_600_000),
          maxSizeBytes: null,
          maxDurationSeconds: null,
          duration: 5.5,
          input: { width: 560, height: 320 },
          playback: { hls: `${url}/manifest/video.m3u8`, dash: `${url}/manifest/video.mpd` },
          watermark: null,
        };
      },
    },
  },
});
