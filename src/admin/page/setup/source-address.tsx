import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { copy } from "../clipboard.ts";
import { announce } from "../components/announcer.tsx";
import { Button } from "../components/button.tsx";
import { CopyButton } from "../components/copy-button.tsx";
import { failureText } from "../components/states.tsx";
import { showSecret } from "../requests.ts";
import { t } from "../texts/texts.ts";

/** The address of a source, to copy. */
export const sourceUrl = (url: string): VNode => (
  <div class="copied">
    <code>{url}</code>
    <CopyButton label={t.setup.copyUrl} done={t.setup.urlCopied} text={() => url} />
  </div>
);

/** A button that copies the newest secret of a source. The server shows it until the first delivery. */
export function SecretButton({ source }: { source: string }): VNode {
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
  return (
    <>
      <Button class="quiet" label={t.setup.copySecret} onClick={onClick} />
      {result.value !== null && (
        <>
          {" "}
          <span class="soft small">{result.value}</span>
        </>
      )}
    </>
  );
}
