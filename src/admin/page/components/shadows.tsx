import type { VNode } from "preact";
import type { Shadow, ShadowDifference } from "../answers.ts";
import { printable } from "../printable.ts";
import { readDifferences, readShadows } from "../requests.ts";
import { useResource } from "../resource.ts";
import { eventHref } from "../router.ts";
import { formats, t } from "../texts/texts.ts";
import { Section } from "./section.tsx";
import { shown } from "./states.tsx";
import { terms } from "./table.tsx";

const EVERY_MS = 5000;
const DIFFERENCES = 5;

function Shadows({ route }: { route: string }): VNode {
  const shadows = useResource("shadows", readShadows, EVERY_MS);
  return <>{shown(shadows, ({ items }) => items.filter(({ of }) => of === route).map(section), null)}</>;
}

function section({ name, target, same, different, failed, skipped }: Shadow): VNode {
  const counts = [
    [t.routes.same, same],
    [t.routes.different, different],
    [t.routes.unanswered, failed],
    [t.routes.skipped, skipped],
  ] as const;
  return (
    <Section key={name} title={`${t.routes.shadow} ${name}`}>
      <div class="card">
        <p>
          <code>{target}</code>
        </p>
        {terms(counts.map(([label, count]) => [label, formats.count(count)]))}
        {different + failed > 0 && <Differences key={different + failed} name={name} />}
      </div>
    </Section>
  );
}

function Differences({ name }: { name: string }): VNode {
  const differences = useResource(name, (signal) => readDifferences(name, signal));
  return (
    <>
      {shown(differences, ({ items }) => (
        <ul>{items.slice(0, DIFFERENCES).map(difference)}</ul>
      ))}
    </>
  );
}

const difference = ({ source, eventId, place, expected, found }: ShadowDifference): VNode => (
  <li key={`${source} ${eventId}`}>
    <a href={eventHref({ source, eventId })}>{printable(eventId)}</a> {place} <code>{printable(expected)}</code> →{" "}
    <code>{printable(found)}</code>
  </li>
);

/** How the answers of the shadows of a route compare with its own, and the last events where they differ. */
export const shadowsOf = (route: string): VNode => <Shadows key={`shadows ${route}`} route={route} />;
