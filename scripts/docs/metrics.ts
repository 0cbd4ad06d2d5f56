import { createMetrics, LABELS } from "../../src/metrics.ts";
import { code, codes, page, table } from "./markdown.ts";

const OWN_PREFIX = "authserve_";

/** The page of metrics. */
export async function metricsPage(): Promise<string> {
  const metrics = readExposition(await exposition());
  return page(
    "Metrics",
    "`GET /metrics` shows these metrics in the text format of Prometheus.",
    "Counters begin at 0 when the server starts. Requests refused before their route is known, such as `headers_too_large`, are not counted.",
    table(
      ["metric", "type", "label", "meaning"],
      metrics.map(({ name, type, help }) => [code(name), type, labelOf(name), help]),
    ),
    "Metrics of Node.js and of the process are there too, with the prefixes `nodejs_` and `process_`.",
    "## Labels",
    ...Object.entries(LABELS).flatMap(describeLabel),
  );
}

interface Metric {
  name: string;
  type: string;
  help: string;
}

async function exposition(): Promise<string> {
  const lists = { routes: [], sources: [], tokens: [], logouts: [], newLogins: [], missed: [], subscriptions: [] };
  const needs = {
    readWatched: async () => ({ backlog: null, certificateEndsAt: null, ...lists }),
    admission: { paused: { disk_low: false, queue_old: false }, freeBytes: 0, minFreeBytes: 0 },
    intake: { waiting: 0 },
    queueLimit: 0,
    isAvailable: () => true,
    readiness: async () => [],
    appendError: () => null,
    logBytes: () => 0,
    now: () => 0,
  };
  return (await createMetrics().exposition(needs).render()).text;
}

function readExposition(text: string): Metric[] {
  const found = text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm);
  return Array.from(found, ([, name = "", help = "", type = ""]) => ({ name, type, help })).filter(({ name }) =>
    name.startsWith(OWN_PREFIX),
  );
}

function labelOf(name: string): string {
  const labels: Partial<Record<string, { label: string }>> = LABELS;
  const found = labels[name.slice(OWN_PREFIX.length)];
  if (found !== undefined) return code(found.label);
  const word = ["route", "source", "part", "token"].find((label) => name.startsWith(`${OWN_PREFIX}${label}_`));
  return word === undefined ? "" : code(word);
}

function describeLabel([name, described]: [string, (typeof LABELS)[keyof typeof LABELS]]): string[] {
  const meanings = "values" in described ? Object.entries(described.values) : [];
  const blocks = [`### ${code(`${OWN_PREFIX}${name}{${described.label}}`)}`];
  if (meanings.length > 0) {
    blocks.push(
      table(
        ["value", "meaning"],
        meanings.map(([value, meaning]) => [code(value), meaning]),
      ),
    );
  }
  if ("codes" in described) blocks.push(`[Error codes](errors.md): ${codes(described.codes)}`);
  return blocks;
}
