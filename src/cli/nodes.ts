import { OperatorError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { printJson } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

/**
 * Prints the servers that share the database: whether they are alive, since when, their version and how late their
 * heartbeats are.
 */
export function runNodes({ utc, json }: { utc?: boolean; json?: boolean }): Promise<void> {
  return withStores(async ({ shared, now }) => {
    if (shared === null) {
      const found = "A DATA_DIR has one server";
      throw new OperatorError({ found, remedy: "set DATABASE_URL to list servers, or see authserve ready" });
    }
    const nodes = await shared.nodes.list();
    if (json) {
      return printJson(
        nodes.map(({ isAlive, startedAt, seenAt, ...node }) => ({
          ...node,
          alive: isAlive,
          startedAt: isoTime(startedAt),
          seenAt: isoTime(seenAt),
        })),
      );
    }
    const time = timeFormat(utc, now());
    printTable(
      ["HOST", "URL", "STATUS", "SINCE", "SEEN", "VERSION", "LAG", "CLOCK"],
      nodes.map(({ host, url, isAlive, startedAt, seenAt, version, lagMs, clockOffsetMs }) => [
        host,
        url,
        isAlive ? "alive" : "dead",
        time(startedAt),
        time(seenAt),
        version,
        `${lagMs} ms`,
        `${clockOffsetMs < 0 ? "" : "+"}${clockOffsetMs} ms`,
      ]),
    );
  });
}
