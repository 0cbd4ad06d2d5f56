import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { announce } from "../components/announcer.tsx";
import { failureText } from "../components/states.tsx";
import { status } from "../live.ts";
import { printable } from "../printable.ts";
import { sendSample } from "../requests.ts";
import { eventHref } from "../router.ts";
import { t } from "../texts/texts.ts";

interface Result {
  text: string;
  href: string | null;
  isBad: boolean;
}

/** A button that signs a sample as the sender of a source does, delivers it, and shows the answer. */
export function SendSample({ source, label, isMain }: { source: string; label: string; isMain: boolean }): VNode {
  const result = useSignal<Result | null>(null);
  const isBusy = useSignal(false);
  async function onClick(): Promise<void> {
    if (isBusy.value) return;
    isBusy.value = true;
    result.value = await send(source).catch((error: unknown) => ({
      text: failureText(error),
      href: null,
      isBad: true,
    }));
    isBusy.value = false;
    announce(result.value.text);
    void status.reload();
  }
  return (
    <>
      <button
        type="button"
        class={isMain ? "" : "quiet"}
        aria-disabled={isBusy.value ? "true" : "false"}
        onClick={onClick}
      >
        {label}
      </button>
      {result.value !== null && (
        <p class={`note ${result.value.isBad ? "error" : ""}`}>
          {printable(result.value.text)}{" "}
          {result.value.href !== null && <a href={result.value.href}>{t.setup.seeEvent}</a>}
        </p>
      )}
    </>
  );
}

async function send(source: string): Promise<Result> {
  const { status: answered, answer, eventId } = await sendSample(source);
  const isBad = answered >= 300;
  return {
    text: isBad ? t.setup.sampleRefused(answered, answer) : t.setup.sampleSent,
    href: eventId === null ? null : eventHref({ source, eventId }),
    isBad,
  };
}
