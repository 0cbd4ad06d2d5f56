import type { EventStore } from "../events/store.ts";
import { type DetailPort, eventDetails } from "./event-details.ts";
import { type OpenJobPort, openJobs } from "./open-jobs.ts";
import type { PayloadCodec } from "./payload-codec.ts";
import type { QueryPort } from "./query.ts";
import { type RouteNotes, routeNotes } from "./route-notes.ts";
import { type SentBodyPort, sentBodies } from "./sent-bodies.ts";
import { type ShadowPort, shadowStore } from "./shadows.ts";

type EventParts = Pick<EventStore, keyof (DetailPort & OpenJobPort & RouteNotes & SentBodyPort & ShadowPort)>;

/** What of the store of events is written once for both databases. */
export const eventParts = (codec: PayloadCodec): QueryPort<EventParts> => ({
  ...eventDetails(codec),
  ...openJobs,
  ...routeNotes,
  ...sentBodies(codec),
  ...shadowStore(codec),
});
