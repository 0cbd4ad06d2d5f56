import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useRef } from "preact/hooks";
import { t } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { failureText } from "./states.tsx";

interface ConfirmProps {
  title: string;
  children: ComponentChildren;
  action: string;
  isDangerous?: boolean;
  /** Does it, with what was filled in. An error is shown, and the dialog stays. */
  onConfirm: (fields: FormData) => Promise<void>;
  onClose: () => void;
}

/** A dialog that asks before something is done. */
export function Confirm({ title, children, action, isDangerous = false, onConfirm, onClose }: ConfirmProps): VNode {
  const failure = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  const close = () => form.current?.closest("dialog")?.close();
  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    failure.value = null;
    try {
      await onConfirm(new FormData(event.currentTarget as HTMLFormElement));
      close();
    } catch (error) {
      failure.value = error;
    } finally {
      isBusy.value = false;
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form ref={form} onSubmit={onSubmit}>
        {children}
        <div role="alert">{failure.value !== null && <p class="note error">{failureText(failure.value)}</p>}</div>
        <div class="actions end">
          <Button class="quiet" label={t.cancel} onClick={close} />
          <button type="submit" class={isDangerous ? "danger" : ""} aria-disabled={isBusy.value ? "true" : "false"}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
