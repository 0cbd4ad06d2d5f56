import { payloadJson, payloadText } from "../../events/json.ts";
import type { HeardEvent } from "../../events/listening.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { printable, printableLines } from "../../lib/printable.ts";
import { jsonLine, printData, say } from "../output.ts";
import { styled } from "../table.ts";
import type { View } from "./forward.ts";
import type { TargetAnswer } from "./target.ts";

interface LineOptions {
  json?: boolean | undefined;
  /** Shows payloads, too. */
  print?: boolean | undefined;
}

/** Shows each event in a line, and what the listener waits for on standard error. */
export function lineView({ json = false, print = false }: LineOptions): View {
  let waitsFor: string | null = null;
  return {
    show(event, answer) {
      printData(json ? jsonLine(shownJson(event, answer, print)) : textOf(event, answer));
      if (print && !json && event.content !== null) printData(printableLines(payloadText(event.content.payload)));
    },
    waits(reason) {
      if (reason === waitsFor) return;
      say(reason === null ? "Listening again." : `Waiting: ${reason}`);
      waitsFor = reason;
    },
    reset: () => say("The store has lost events, as a restored backup has. Going on with those received since."),
  };
}

/** What became of an event: the status of the answer, or why there is none. */
export const outcomeOf = (answer: TargetAnswer | null) =>
  answer === null ? "-" : String(answer.status ?? answer.error);

/** Whether an answer has the status of success. */
export const isSuccess = ({ status }: TargetAnswer) => status !== null && status >= 200 && status < 300;

function textOf({ receivedAt, source, type, eventId }: HeardEvent, answer: TargetAnswer | null): string {
  const outcome = printable(outcomeOf(answer));
  const shown = answer === null ? outcome : styled(isSuccess(answer) ? "green" : "red", outcome);
  const ms = answer === null ? "" : `${answer.ms} ms`;
  return [isoTime(receivedAt), source, printable(type), printable(eventId), shown, ms].join("  ").trimEnd();
}

function shownJson(
  { receivedAt, source, type, eventId, content }: HeardEvent,
  answer: TargetAnswer | null,
  print: boolean,
) {
  return {
    receivedAt: isoTime(receivedAt),
    ...{ source, type, eventId },
    status: answer?.status ?? null,
    ms: answer?.ms ?? null,
    error: answer?.error ?? null,
    ...(print && (content === null ? { payload: null } : payloadJson(content.payload))),
  };
}
