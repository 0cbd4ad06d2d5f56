import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../build/bundle.ts";

/** Whether CHANGELOG.md has a section of a version: `## 1.2.3`, which a date may follow. */
export function changelogHas(version: string, text = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8")): boolean {
  return text.split("\n").some((line) => line === `## ${version}` || line.startsWith(`## ${version} `));
}
