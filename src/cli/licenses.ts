import { readComponents } from "../platform/checkout.ts";
import { printData, printJson } from "./output.ts";
import { printTable } from "./table.ts";

/** Lists the packages in this program. With `full`, prints the full licence texts. */
export function runLicenses({ full, json }: { full?: boolean; json?: boolean }): void {
  const components = readComponents();
  if (json) {
    printJson(
      components.map(({ name, version, license, text }) => ({ name, version, license, ...(full ? { text } : {}) })),
    );
  } else if (full) {
    for (const { name, version, license, text } of components) {
      printData(`== ${name} ${version}: ${license}\n\n${text || "(the package has no licence file)"}\n`);
    }
  } else {
    printTable(
      ["PACKAGE", "VERSION", "LICENCE"],
      components.map(({ name, version, license }) => [name, version, license]),
    );
  }
}
