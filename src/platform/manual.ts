import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A page of the documentation. */
export interface ManualPage {
  /** Its file below `docs`, without `.md`. */
  name: string;
  /** Markdown. */
  text: string;
}

/** Reads the pages of the documentation below a folder. The reference comes last. */
export function readPages(folder: string): ManualPage[] {
  const names = ["", "reference/"].flatMap((part) =>
    readdirSync(join(folder, part))
      .filter((file) => file.endsWith(".md"))
      .sort()
      .map((file) => `${part}${file.slice(0, -".md".length)}`),
  );
  return names.map((name) => ({ name, text: readFileSync(join(folder, `${name}.md`), "utf8") }));
}
