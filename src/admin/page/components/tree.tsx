import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { type JsonNode, sizeOf } from "../json-tree.ts";
import { printable } from "../printable.ts";
import { t } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { lazyDetails } from "./lazy-details.tsx";

const CHILDREN = 100;
const TEXT = 500;

interface NodeProps {
  name: string | null;
  node: JsonNode;
  /** Down to this many levels, values are open at first. */
  openLevels: number;
}

function Node({ name, node, openLevels }: NodeProps): VNode {
  const isBranch = node.kind === "object" || node.kind === "array";
  if (isBranch && sizeOf(node) > 0) return <Branch name={name} node={node} openLevels={openLevels} />;
  return (
    <div class="leaf">
      {nameOf(name)}
      {isBranch ? emptyOf(node) : <Leaf node={node} />}
    </div>
  );
}

const emptyOf = ({ kind }: JsonNode) => <span class="soft">{kind === "array" ? "[]" : "{}"}</span>;

const nameOf = (name: string | null): ComponentChildren =>
  name !== null && (
    <>
      <span class="name">{printable(name)}</span>
      <span class="soft">: </span>
    </>
  );

function Branch({ name, node, openLevels }: NodeProps): VNode {
  const size = sizeOf(node);
  const summary = node.kind === "array" ? `[${t.event.items(size)}]` : `{${t.event.members(size)}}`;
  return lazyDetails(
    <>
      {nameOf(name)}
      <span class="soft">{summary}</span>
    </>,
    () => <Children node={node} openLevels={openLevels - 1} />,
    openLevels > 0,
  );
}

function Children({ node, openLevels }: Omit<NodeProps, "name">): VNode {
  const limit = useSignal(CHILDREN);
  const left = sizeOf(node) - limit.value;
  const more = () => {
    limit.value += CHILDREN;
  };
  return (
    <ul>
      {childrenOf(node, limit.value).map(([name, value], index) => (
        <li key={index}>
          <Node name={name} node={value} openLevels={openLevels} />
        </li>
      ))}
      {left > 0 && (
        <li>
          <Button class="link" label={t.showMore(left)} onClick={more} />
        </li>
      )}
    </ul>
  );
}

function childrenOf(node: JsonNode, limit: number): [string, JsonNode][] {
  if (node.kind === "object") return node.members.slice(0, limit).map(({ name, value }) => [name, value]);
  return node.kind === "array" ? node.items.slice(0, limit).map((value, index) => [String(index), value]) : [];
}

function Leaf({ node }: { node: JsonNode }): VNode | null {
  const isWhole = useSignal(false);
  if (node.kind === "object" || node.kind === "array") return null;
  const left = isWhole.value ? 0 : Math.max(0, node.text.length - TEXT);
  const text = printable(left > 0 ? node.text.slice(0, TEXT) : node.text);
  const showAll = () => {
    isWhole.value = true;
  };
  return (
    <>
      <span class={node.kind}>{node.kind === "string" ? `"${text}"` : text}</span>
      {left > 0 && <Button class="link" label={t.event.showText(left)} onClick={showAll} />}
    </>
  );
}

/** A JSON value that can be opened level by level. */
export const tree = (node: JsonNode, openLevels: number): VNode => (
  <div class="tree">
    <Node name={null} node={node} openLevels={openLevels} />
  </div>
);
