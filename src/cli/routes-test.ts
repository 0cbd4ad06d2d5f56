import { readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { OperatorError, systemCode } from "../errors.ts";
import type { EventName, EventStore, HistoryEvent } from "../events/store.ts";
import { printable } from "../lib/printable.ts";
import { startEvaluatorProcess } from "../platform/checkout.ts";
import { jsonOf, openStored } from "../webhook/content/stored-content.ts";
import { type BackTest, createBackTest, createTally } from "../worker/back-test.ts";
import type { Route } from "../worker/route.ts";
import { reasonOf } from "../worker/routing.ts";
import { startProcessEvaluator } from "../worker/transform/process-evaluator.ts";
import { createTransformer } from "../worker/transform/transformer.ts";
import { readRoutesOf } from "./configured.ts";
import { findEvent, noSuchEvent } from "./find-event.ts";
import { withPerformer } from "./operate.ts";
import { parseTime } from "./option-values.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { HERE } from "./remote.ts";
import { printTable } from "./table.ts";

interface TestOptions {
  event?: string;
  since?: string;
  file?: string;
  source?: string;
  type?: string;
  config?: string;
  json?: boolean;
}

const PAGE = 500;

/** Shows what routes would do with stored events, or with a file, and how that differs from what was sent. */
export async function runRoutesTest(name: string | undefined, options: TestOptions): Promise<void> {
  const { event, since, file, source, type, config, json } = options;
  if ([event, since, file].filter((given) => given !== undefined).length !== 1)
    throw new OperatorError({ found: "What to test is not clear", remedy: "give one of --event, --since and --file" });
  if (file !== undefined && source === undefined)
    throw new OperatorError({ found: "--file needs --source", remedy: "name the source that the event would be of" });
  if ((file === undefined && type !== undefined) || (since !== undefined && source !== undefined))
    throw new OperatorError({ found: "--source or --type is not usable here", remedy: "they are for --file" });
  const routes = chosenRoutes(readRoutesOf(config), name);
  const result =
    file !== undefined
      ? await test(routes, async function* () {
          yield [eventInFile(file, source ?? "", type)];
        })
      : await testStored(routes, { eventId: event, source, since });
  if (json) printJson(result);
  else print(result);
}

function chosenRoutes(routes: readonly Route[], name: string | undefined): readonly Route[] {
  const chosen = name === undefined ? routes : routes.filter((route) => route.name === name);
  if (chosen.length > 0) return chosen;
  throw new OperatorError({
    found: `The file has no route ${JSON.stringify(name)}`,
    remedy: "see authserve routes list",
  });
}

interface Stored {
  eventId: string | undefined;
  source: string | undefined;
  since: string | undefined;
}

/** Tests one stored event, or those since a time. */
async function testStored(routes: readonly Route[], { eventId, source, since = "0" }: Stored): Promise<BackTest> {
  let result: BackTest | undefined;
  await withPerformer(HERE, async ({ perform, stores, now }) => {
    if (stores === null) return;
    const { events } = stores;
    if (eventId !== undefined) {
      const event = await findEvent(perform, { eventId, source });
      if (!event) throw noSuchEvent(eventId);
      result = await test(routes, () => pages(events, { since: 0, name: event }));
      return;
    }
    // Deliveries come first.
    setPriority(constants.priority.PRIORITY_LOW);
    result = await test(routes, () => pages(events, { since: parseTime("--since", since, now()) }));
  });
  return result as BackTest;
}

async function* pages(events: EventStore, request: { since: number; name?: EventName }) {
  for (let after = 0; ; ) {
    const page = await events.history({ ...request, after, limit: PAGE });
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last.id;
  }
}

async function test(routes: readonly Route[], read: () => AsyncIterable<HistoryEvent[]>): Promise<BackTest> {
  const transformer = createTransformer(() => startProcessEvaluator(startEvaluatorProcess));
  const tryRoutes = createBackTest(routes, { transformer, jsonOf, openPayload: openStored });
  const tally = createTally(routes);
  try {
    for await (const page of read()) {
      const trials = await Promise.all(page.map(tryRoutes));
      for (const [index, event] of page.entries()) tally.add(event, trials[index] ?? []);
    }
  } finally {
    await transformer.close();
  }
  return tally.result;
}

/** An event with the bytes of a file. */
function eventInFile(file: string, source: string, type: string | undefined): HistoryEvent {
  let payload: Buffer;
  try {
    payload = readFileSync(file);
  } catch (error) {
    throw new OperatorError({ found: `${file} cannot be read (${systemCode(error)})`, remedy: "name a readable file" });
  }
  const json = jsonOf({ payload, contentType: "application/json" });
  const contentType = json === null ? "application/octet-stream" : "application/json";
  const stored = { payload, contentType, headers: "{}" };
  const named = openStored(stored).member("type");
  const known = type ?? (typeof named === "string" && named !== "" ? named : "unknown");
  return { ...stored, id: 0, source, eventId: "file", type: known, receivedAt: Date.now(), jobs: [] };
}

function print({ matched, unmatched, changed, routes, samples }: BackTest): void {
  printTable(
    ["ROUTE", "MATCHED", "NOT MATCHED", "CHANGED", "FAILED"],
    routes.map((route) => [route.route, ...[route.matched, route.unmatched, route.changed, route.failed].map(String)]),
  );
  for (const sample of samples) {
    const what = sample.error ?? reasonOf(sample) ?? "taken";
    const change = sample.change === null ? "" : ` [${CHANGES[sample.change]}]`;
    printData(printable(`${sample.eventId} of ${sample.source}, ${sample.route}: ${what}${change}`));
    if (sample.sent && sample.change === "body") printData(printable(`  sent:  ${sample.sent.body}`));
    if (sample.sends) printData(printable(`  sends: ${sample.sends.body}`));
  }
  say(`${counted(matched, "event")} taken, ${unmatched} by no route, ${changed} changed. Nothing was sent.`);
}

const CHANGES = {
  taken: "was not taken before",
  left: "was taken before",
  body: "another body than was sent",
  failed: "nothing can be sent",
};
