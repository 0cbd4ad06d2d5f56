import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The violations that axe-core finds in a page, each with the elements. */
export async function violationsOf(page: Page): Promise<string[]> {
  // A script of the developer tools, which the policy of the page does not forbid.
  await page.evaluate(AXE);
  return page.evaluate(
    `axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`,
  );
}
