import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useId } from "preact/hooks";

interface Tab {
  name: string;
  label: string;
  content: () => ComponentChildren;
}

const KEYS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** Views of the same thing, of which one is shown. */
export function Tabs({ all }: { all: readonly Tab[] }): VNode {
  const id = useId();
  const chosen = useSignal(0);
  const idOf = (part: string, index: number) => `${id}-${part}-${index}`;
  function onKeyDown(event: KeyboardEvent): void {
    const step = KEYS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    chosen.value = (chosen.value + step + all.length) % all.length;
    document.getElementById(idOf("tab", chosen.value))?.focus();
  }
  const tab = ({ name, label }: Tab, index: number) => (
    <button
      key={name}
      type="button"
      role="tab"
      id={idOf("tab", index)}
      aria-selected={index === chosen.value ? "true" : "false"}
      aria-controls={id}
      tabindex={index === chosen.value ? 0 : -1}
      onClick={() => {
        chosen.value = index;
      }}
    >
      {label}
    </button>
  );
  return (
    <>
      <div role="tablist" onKeyDown={onKeyDown}>
        {all.map(tab)}
      </div>
      <div role="tabpanel" id={id} aria-labelledby={idOf("tab", chosen.value)} key={chosen.value}>
        {all[chosen.value]?.content()}
      </div>
    </>
  );
}
