import type { ComponentChildren } from "preact";
import { html } from "../html.ts";
import { serverText } from "../texts/texts.ts";

/** What to do. A command is shown as one. */
export const remedyText = (remedy: string): ComponentChildren =>
  remedy.startsWith("authserve ") ? html`<code>${remedy}</code>` : serverText(remedy);
