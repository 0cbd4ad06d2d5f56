import type { VNode } from "preact";
import type { Explanation } from "../answers.ts";
import { printable } from "../printable.ts";
import { named, t } from "../texts/texts.ts";
import { badge } from "./badge.tsx";
import { CopyButton } from "./copy-button.tsx";
import { table } from "./table.tsx";

/** What the server would answer. The code and the reason are often the same. */
export function answerText(status: number, reasons: readonly (string | null)[]): string {
  const why = [...new Set(reasons)]
    .filter((text) => text !== null)
    .map((text) => named(t.refused.reasons, text) ?? text)
    .join(", ");
  return why === "" ? t.refused.wouldAnswer(status) : t.refused.wouldAnswerWhy(status, why);
}

/** Which checks a delivery passes, and what the server would answer. */
export function explanation({ checks, genuine, answer, handshake, eventId, type, verify }: Explanation): VNode {
  const isGood = answer.status < 300;
  return (
    <>
      <p class={`note ${isGood ? "" : "error"}`}>
        {answerText(answer.status, [answer.code, answer.reason])}
        {handshake === null && (genuine ? t.refused.genuine : t.refused.notGenuine)}
        {eventId !== null && t.refused.wouldBe(printable(eventId), printable(type ?? ""))}
      </p>
      {table({
        caption: t.refused.checks,
        rows: checks,
        keyOf: ({ name }) => name,
        columns: [
          { label: t.refused.check, cell: ({ name }) => <code>{name}</code>, isHeader: true },
          {
            label: t.refused.passed,
            cell: ({ ok }) => (ok ? badge("good", "check", t.refused.yes) : badge("bad", "cross", t.refused.no)),
          },
          { label: t.refused.detail, kind: "grow", cell: ({ detail }) => printable(detail) },
        ],
      })}
      {verify !== null && (
        <div class="card">
          <p>{t.refused.wouldVerify}</p>
          <pre tabIndex={0}>{printable(verify)}</pre>
          <CopyButton label={t.setup.copyLines} done={t.copied} text={() => verify} />
        </div>
      )}
    </>
  );
}
