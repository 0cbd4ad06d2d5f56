import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { HeldDetail } from "../answers.ts";
import { useChoice } from "../choice.ts";
import { announce } from "../components/announcer.tsx";
import { Button } from "../components/button.tsx";
import { explanation } from "../components/explanation.tsx";
import { Heading } from "../components/heading.tsx";
import { Payload } from "../components/payload.tsx";
import { reasonText } from "../components/refusal.tsx";
import { Section } from "../components/section.tsx";
import { failureText, shown, skeleton } from "../components/states.tsx";
import { terms } from "../components/table.tsx";
import { exactly } from "../components/time.tsx";
import { headers } from "../event/headers.tsx";
import { printable } from "../printable.ts";
import { readHeld, reverifyHeld } from "../requests.ts";
import { useResource } from "../resource.ts";
import { formats, t } from "../texts/texts.ts";
import { removeDialog } from "./refused-remove.tsx";

/** A held delivery: what came, why it was refused, and what can be done. */
export function Held({ id }: { id: string }): VNode {
  const held = useResource(id, (signal) => readHeld(id, signal));
  return (
    <>
      <Heading title={t.refused.one(id)} back="refused" />
      {shown(
        held,
        (data) => (
          <Detail held={data} />
        ),
        skeleton(12),
      )}
    </>
  );
}

function Detail({ held }: { held: HeldDetail }): VNode {
  const result = useSignal<{ text: string; isGone: boolean } | null>(null);
  const removing = useChoice();
  async function reverify(): Promise<void> {
    result.value = await reverifyHeld([held.id]).then(
      ({ admitted, duplicates, refused }) => ({
        text: refused[0] ? t.refused.stays(refused[0].reason) : t.refused.reverified(admitted, duplicates, 0),
        isGone: refused.length === 0,
      }),
      (error: unknown) => ({ text: failureText(error), isGone: false }),
    );
    announce(result.value.text);
  }
  const onRemoved = () => {
    result.value = { text: t.refused.removed(1), isGone: true };
  };
  return (
    <>
      <p class="badges">
        {reasonText(held.reason)} <span class="soft">{held.source}</span>
      </p>
      {result.value !== null && <p class="note">{result.value.text}</p>}
      {!result.value?.isGone && (
        <div class="actions">
          <Button label={t.refused.reverify} onClick={reverify} />
          <Button class="quiet" label={`${t.refused.remove}…`} onClick={removing.choose(true)} />
        </div>
      )}
      <div class="columns">
        <Section title={t.refused.checks}>
          {held.explanation === null ? <p class="soft">{t.refused.noSource}</p> : explanation(held.explanation)}
        </Section>
        <Section title={t.event.origin}>
          <div class="card">
            {terms([
              [t.event.received, exactly(held.receivedAt)],
              [t.event.address, <code>{held.address}</code>],
              [
                t.refused.request,
                <code>
                  {held.method} {printable(held.url)}
                </code>,
              ],
              [t.event.contentType, <code>{printable(held.mediaType)}</code>],
              [t.refused.size, formats.bytes(held.bytes)],
            ])}
          </div>
        </Section>
        <div>
          <Section title={t.event.payload}>
            <Payload text={held.payload} />
          </Section>
          <Section title={t.event.headers}>{headers(held.headers)}</Section>
        </div>
      </div>
      {removing.value && removeDialog([held.id], { onRemoved, onClose: removing.close })}
    </>
  );
}
