import { OperatorError } from "../errors.ts";
import { printable } from "../lib/printable.ts";
import type { OutputOf } from "../operations/operation.ts";
import { differences, listed, reset } from "../operations/shadows.ts";
import { noSuchRoute } from "./find-source.ts";
import { withPerformer } from "./operate.ts";
import { counted, printJson, say } from "./output.ts";
import type { RemoteOptions } from "./remote.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

interface ShadowOptions extends RemoteOptions {
  reset?: boolean;
  utc?: boolean;
  json?: boolean;
}

type Shadow = OutputOf<typeof listed>["items"][number];
type Difference = OutputOf<typeof differences>["items"][number];

/** Prints the shadows with the numbers of their comparisons, or the differences of one. `--reset` forgets them. */
export async function runRoutesShadow(name: string | undefined, options: ShadowOptions): Promise<void> {
  const { reset: isReset, utc, json, ...remote } = options;
  if (isReset && name === undefined)
    throw new OperatorError({ found: "--reset is not usable here", remedy: "name a shadow" });
  await withPerformer(remote, async ({ perform }) => {
    const { items: shadows } = await perform(listed, {});
    if (name === undefined) return json ? printJson(shadows) : printShadows(shadows);
    const shadow = shadows.find((one) => one.name === name);
    if (shadow === undefined)
      throw noSuchRoute(
        name,
        shadows.map((one) => one.name),
        "shadow",
      );
    if (isReset) {
      const { changed } = await perform(reset, { name });
      return say(changed ? `The comparisons of ${name} are counted anew.` : `${name} has no comparisons.`);
    }
    const { items } = await perform(differences, { name });
    if (json) printJson({ ...shadow, differences: items });
    else printDifferences(shadow, items, timeFormat(utc, Date.now()));
  });
}

function printShadows(shadows: readonly Shadow[]): void {
  printTable(
    ["NAME", "OF", "SAME", "DIFFERENT", "FAILED", "SKIPPED", { heading: "TARGET", leastWidth: 12 }],
    shadows.map(({ name, of, same, different, failed, skipped, target }) => [
      ...[name, of],
      ...[same, different, failed, skipped].map(String),
      printable(target),
    ]),
  );
}

function printDifferences(shadow: Shadow, items: readonly Difference[], time: (at: number) => string): void {
  printTable(
    ["AT", "ID", "TYPE", "PLACE", "EXPECTED", { heading: "FOUND", leastWidth: 12 }],
    items.map(({ at, eventId, type, place, expected, found }) => [
      time(Date.parse(at)),
      ...[eventId, type, place, expected, found].map(printable),
    ]),
  );
  const { same, different, failed, skipped, of } = shadow;
  say(`${counted(same, "answer")} as of ${of}, ${different} different, ${failed} failed, ${skipped} not compared.`);
}
