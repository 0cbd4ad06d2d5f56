import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { copy } from "../clipboard.ts";
import { element, html } from "../html.ts";
import { t } from "../texts/texts.ts";
import { announce } from "./announcer.ts";

interface CopyProps {
  label: string;
  /** What is said once it is copied. */
  done: string;
  text: () => string;
}

const SHOWN_MS = 2000;

function CopyButton({ label, done, text }: CopyProps): VNode {
  const result = useSignal<string | null>(null);
  async function onClick(): Promise<void> {
    const isCopied = await copy(text());
    result.value = isCopied ? t.copied : t.copyFailed;
    announce(isCopied ? done : t.copyFailed);
    setTimeout(() => {
      result.value = null;
    }, SHOWN_MS);
  }
  return html`<button type="button" class="quiet" onClick=${onClick}>${result.value ?? label}</button>`;
}

/** A button that copies text. */
export const copyButton = (props: CopyProps & { key?: string }): VNode => element(CopyButton, props);
