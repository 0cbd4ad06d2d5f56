import * as v from "valibot";
import { auditedSelection } from "../audit/selection.ts";
import { whyNotDiscarded } from "../events/untaken.ts";
import { change } from "./operation.ts";
import { reason, SELECTED, SELECTION_LIMIT, TakenAnswer, takeSelected } from "./selection.ts";

export const discard = change({
  path: "events/discard",
  scope: "events:write",
  summary: "Discards the failed or queued jobs of events, selected as for a replay, with a `reason`.",
  input: v.object({ ...SELECTED, reason }),
  limitBytes: SELECTION_LIMIT,
  output: TakenAnswer,
  audited: {
    action: "events.discard",
    asked: ({ reason, dryRun, ...body }) => (dryRun ? null : { ...auditedSelection(body), reason }),
    outcome: ({ matched }) => ({ events: matched }),
  },
  run(context, { reason, ...selection }) {
    const { events, now } = context.stores;
    return takeSelected(context, selection, {
      one: (event) => events.discard(event, reason, now()),
      page: (filter, page) => events.discardAll(filter, reason, now(), page),
      whyNot: whyNotDiscarded,
    });
  },
});
