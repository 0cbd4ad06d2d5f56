import type { ComponentChildren } from "preact";
import { serverText } from "../texts/texts.ts";

/** What to do. A command is shown as one. */
export const remedyText = (remedy: string): ComponentChildren =>
  remedy.startsWith("authserve ") ? <code>{remedy}</code> : serverText(remedy);
