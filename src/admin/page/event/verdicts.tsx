import type { VNode } from "preact";
import type { EventDetail } from "../answers.ts";
import { Section } from "../components/section.tsx";
import { terms } from "../components/table.tsx";
import { printable } from "../printable.ts";
import { t } from "../texts/texts.ts";

type Verdict = EventDetail["routes"][number];

/** Why the routes without a job of an event do not take it; null if all have one. */
export function verdicts({ routes, jobs }: EventDetail): VNode | null {
  const taken = new Set(jobs.map(({ route }) => route));
  const others = routes.filter(({ route }) => !taken.has(route));
  if (others.length === 0) return null;
  return (
    <Section title={t.event.whyNot}>
      <div class="card">{terms(others.map((one) => [one.route, reason(one)]))}</div>
    </Section>
  );
}

function reason({ unmet, expected, found }: Verdict): string {
  if (unmet === null) return t.event.wouldTake;
  if (expected === null) return t.event.doesNotHold(unmet);
  return printable(found === null ? t.event.isMissing(unmet, expected) : t.event.isNotMet(unmet, expected, found));
}
