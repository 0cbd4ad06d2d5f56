import type { VNode } from "preact";
import { now } from "../live.ts";
import { stale } from "../resource.ts";
import { formats, t } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { icon } from "./icon.tsx";
import { failureText } from "./states.tsx";

/** Tells the age of data that can no longer be refreshed. It lies over the page, which stays as it is. */
export function StaleNotice(): VNode | null {
  const all = [...stale.value];
  const [first] = all;
  if (!first) return null;
  const oldest = Math.min(...all.map(({ loadedAt }) => loadedAt.value ?? 0));
  const retry = () => all.map(({ reload }) => reload());
  return (
    <div class="stale note error" role="alert">
      <p>
        {icon("warning")} {failureText(first.failure.value)}
        <span class="small" aria-live="off">
          {" "}
          {t.states.stale(formats.ago(oldest, Math.max(now.value, oldest)))}
        </span>
      </p>
      <Button label={t.retry} onClick={retry} />
    </div>
  );
}
