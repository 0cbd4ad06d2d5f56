import type { VNode } from "preact";
import { status } from "../live.ts";
import { tryRoute } from "../requests.ts";
import { t } from "../texts/texts.ts";
import { announce } from "./announcer.tsx";
import { Button } from "./button.tsx";

/** Tries the unavailable target of a route now. */
export function tryButton(route: string): VNode {
  async function onClick(): Promise<void> {
    await tryRoute(route);
    announce(t.routes.isTried(route));
    await status.reload();
  }
  return <Button class="quiet" label={t.routes.tryNow} of={route} onClick={onClick} />;
}
