import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { Button } from "../components/button.tsx";
import { closeDialog, Dialog } from "../components/dialog.tsx";
import { t } from "../texts/texts.ts";
import { configLines } from "./config-lines.tsx";
import { NOTIFIER_LINES, notifyLines } from "./notifier-lines.ts";

const KINDS = Object.keys(NOTIFIER_LINES);

/** Shows what to write into the configuration, so that a notifier is told of alerts. */
export function NotifierDialog({ onClose }: { onClose: () => void }): VNode {
  const kind = useSignal(KINDS[0] as string);
  const lines = NOTIFIER_LINES[kind.value];
  const onChange = (event: Event) => {
    kind.value = (event.currentTarget as HTMLSelectElement).value;
  };
  return (
    <Dialog title={t.alerts.addNotifier} onClose={onClose}>
      <label>
        {t.alerts.kind}
        <select onChange={onChange}>
          {KINDS.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {lines && (
        <>
          {lines.env.length > 0 && configLines(".env", lines.env.join("\n"))}
          {configLines(t.setup.configFile, notifyLines(lines))}
        </>
      )}
      <p class="soft small">{t.alerts.addHow}</p>
      <p>
        <code>authserve alerts test</code>
      </p>
      <div class="actions end">
        <Button label={t.close} onClick={closeDialog} />
      </div>
    </Dialog>
  );
}
