import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { isEnding, renewSession } from "../session-keeper.ts";
import { t } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { icon } from "./icon.tsx";

/** Tells that the session ends soon, and keeps it on demand. After `SESSION_MAX_AGE` nothing keeps it. */
export function SessionNotice(): VNode | null {
  const isLast = useSignal(false);
  if (!isEnding.value) return null;
  const stay = async () => {
    await renewSession();
    isLast.value = isEnding.value;
  };
  return (
    <div class="stale note" role="alert">
      <p>
        {icon("warning")} {isLast.value ? t.states.session.endsForGood : t.states.session.ends}
      </p>
      {!isLast.value && <Button label={t.states.session.stay} onClick={stay} />}
    </div>
  );
}
