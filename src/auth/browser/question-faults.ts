import { type Fault, faultText } from "../../errors.ts";
import type { RequestContext } from "../../http/endpoint.ts";
import type { Log } from "../../log.ts";

type Event = "original_request_unclear" | "original_url_own" | "original_url_unknown";

/** Tells once of each kind of fault in what proxies ask `/auth/verify`. */
export type TellQuestionFault = (
  line: { event: Event } & Pick<RequestContext, "requestId" | "address">,
  fault: Fault,
) => void;

/** Creates what tells faults in the log, and to `onFault`. */
export function createTellQuestionFault(log: Log, onFault: (fault: Fault) => void): TellQuestionFault {
  const told = new Set<Event>();
  return (line, fault) => {
    if (told.has(line.event)) return;
    told.add(line.event);
    log.warn(line, faultText(fault));
    onFault(fault);
  };
}
