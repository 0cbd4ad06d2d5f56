import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useMemo } from "preact/hooks";
import { parseJsonTree } from "../json-tree.ts";
import { printable } from "../printable.ts";
import { t } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { Tabs } from "./tabs.tsx";
import { tree } from "./tree.tsx";

const TEXT = 100_000;
const FIRST_LEVELS = 2;
const ALL_LEVELS = 64;
// More levels of a large payload would take the browser seconds.
const LEVELS_OF_LARGE = 4;

function Raw({ text }: { text: string }): VNode {
  const isWhole = useSignal(text.length <= TEXT);
  return (
    <>
      <pre class="raw" tabIndex={0} role="region" aria-label={t.event.raw}>
        {printable(isWhole.value ? text : text.slice(0, TEXT))}
      </pre>
      {!isWhole.value && (
        <Button
          class="quiet"
          label={t.event.showText(text.length - TEXT)}
          onClick={() => {
            isWhole.value = true;
          }}
        />
      )}
    </>
  );
}

/** A payload as a tree and as it came. */
export function Payload({ text }: { text: string }): VNode {
  const root = useMemo(() => parseJsonTree(text), [text]);
  const levels = useSignal(FIRST_LEVELS);
  if (text === "") return <p class="soft">{t.event.emptyPayload}</p>;
  if (root === null)
    return (
      <>
        <p class="soft">{t.event.notJson}</p>
        <Raw text={text} />
      </>
    );
  const open = (count: number) => () => {
    levels.value = count;
  };
  const asTree = (): ComponentChildren => (
    <>
      <div class="actions">
        <Button
          class="link"
          label={t.event.expandAll}
          onClick={open(text.length > TEXT ? LEVELS_OF_LARGE : ALL_LEVELS)}
        />
        <Button class="link" label={t.event.collapseAll} onClick={open(0)} />
      </div>
      <div key={levels.value}>{tree(root, levels.value)}</div>
    </>
  );
  return (
    <Tabs
      all={[
        { name: "tree", label: t.event.tree, content: asTree },
        { name: "raw", label: t.event.raw, content: () => <Raw text={text} /> },
      ]}
    />
  );
}
