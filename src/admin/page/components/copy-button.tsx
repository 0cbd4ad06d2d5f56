import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { copy } from "../clipboard.ts";
import { t } from "../texts/texts.ts";
import { announce } from "./announcer.tsx";
import { Button } from "./button.tsx";

interface CopyProps {
  label: string;
  /** What is said once it is copied. */
  done: string;
  text: () => string;
}

const SHOWN_MS = 2000;

/** A button that copies text. */
export function CopyButton({ label, done, text }: CopyProps): VNode {
  const result = useSignal<string | null>(null);
  async function onClick(): Promise<void> {
    const isCopied = await copy(text());
    result.value = isCopied ? t.copied : t.copyFailed;
    announce(isCopied ? done : t.copyFailed);
    setTimeout(() => {
      result.value = null;
    }, SHOWN_MS);
  }
  return <Button class="quiet" label={result.value ?? label} onClick={onClick} />;
}
