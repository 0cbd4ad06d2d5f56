import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { copy } from "../clipboard.ts";
import { announce } from "../components/announcer.ts";
import { copyButton } from "../components/copy-button.ts";
import { failureText } from "../components/states.ts";
import { showSecret } from "../endpoints.ts";
import { element, html } from "../html.ts";
import { t } from "../texts/texts.ts";

/** The address of a source, to copy. */
export const sourceUrl = (url: string): VNode => html`<div class="copied"><code>${url}</code>
  ${copyButton({ label: t.setup.copyUrl, done: t.setup.urlCopied, text: () => url })}</div>`;

function SecretButton({ source }: { source: string }): VNode {
  const result = useSignal<string | null>(null);
  async function onClick(): Promise<void> {
    try {
      const { value } = await showSecret(source);
      result.value = (await copy(value)) ? t.setup.secretCopied : t.copyFailed;
    } catch (error) {
      result.value = failureText(error);
    }
    announce(result.value);
  }
  return html`<button type="button" class="quiet" onClick=${onClick}>${t.setup.copySecret}</button>
    ${result.value !== null && html` <span class="soft small">${result.value}</span>`}`;
}

/** A button that copies the newest secret of a source. The server shows it until the first delivery. */
export const secretButton = (source: string): VNode => element(SecretButton, { source });
