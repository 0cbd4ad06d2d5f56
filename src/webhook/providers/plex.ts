import { randomUUID } from "node:crypto";
import { MULTIPART } from "../content/content.ts";
import { hex, integer } from "../provider/sample.ts";
import { provider } from "../provider.ts";
import { SECRET_IN_URL } from "../signature/signing.ts";

const DOCUMENTATION = "https://support.plex.tv/articles/115002267687-webhooks/";

export default provider({
  title: "Plex (signs nothing)",
  docs: DOCUMENTATION,
  schemes: SECRET_IN_URL,
  covers: "none",
  type: ["body:event"],
  dedupe: {
    mode: "off",
    why: "A payload has neither an id nor the time of its event, which may occur again.",
    source: DOCUMENTATION,
  },
  // With a picture, or as JSON alone.
  contentTypes: [MULTIPART, "application/json"],
  sample: {
    type: "media.play",
    content: {
      multipart: ({ type }) => {
        const payload = {
          event: type,
          user: true,
          owner: true,
          Account: { id: 1, thumb: `https://plex.tv/users/${hex(16)}/avatar`, title: "ada" },
          Server: { title: "Home", uuid: hex(40) },
          Player: { local: true, publicAddress: "192.0.2.7", title: "Living room", uuid: randomUUID() },
          Metadata: { librarySectionType: "show", ratingKey: String(integer(4)), type: "episode", title: "Pilot" },
        };
        return { payload: JSON.stringify(payload) };
      },
    },
  },
});
