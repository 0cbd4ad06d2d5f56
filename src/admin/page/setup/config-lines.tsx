import type { VNode } from "preact";
import { CopyButton } from "../components/copy-button.tsx";
import { t } from "../texts/texts.ts";

/** Lines to copy into a file. */
export const configLines = (file: string, text: string): VNode => (
  <>
    <h3>{file}</h3>
    <pre tabIndex={0}>{text}</pre>
    <CopyButton label={t.setup.copyLines} done={t.copied} text={() => text} />
  </>
);
