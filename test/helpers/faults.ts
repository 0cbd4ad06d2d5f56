import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import type { AlertName } from "../../src/alerts/alert.ts";
import type { LOG_EVENTS } from "../../src/log-events.ts";
import type { OutageKind } from "../../src/webhook/outages/outage.ts";
import { ask, deliver, event, notReady, tryLogin } from "./client.ts";
import { type Server, startServer } from "./server.ts";
import { startTarget } from "./target.ts";
import { until } from "./until.ts";
import { workingDir } from "./working-dir.ts";

/** What `/readyz` names when nothing of the store works. */
export const ALL_BUT_INTAKE = "all but `intake`";

/** Ends a fault. */
export type End = () => unknown;

/** What a fault needs before the server starts: settings of the server, and how the fault is made under it. */
export interface Stage {
  env: Record<string, string>;
  make(server: Server): End | Promise<End>;
}

/** A fault: how it is made, and what is seen of it. `docs/faults.md` shows what is seen. */
export interface Fault {
  name: string;
  prepare(t: TestContext, dir: string): Stage | Promise<Stage>;
  /** What the machine must have. */
  needs?: () => { skip: string | false };
  /** The status of a delivery and of a login. */
  delivery: number;
  login: number;
  /** The parts that `/readyz` names. */
  parts: readonly string[] | typeof ALL_BUT_INTAKE;
  /** What doctor finds wrong, beside the server that is not ready. `…` is any text. Null: nothing. */
  doctor: string | null;
  /** The alerts that are sent, and nothing else is. */
  alerts: readonly AlertName[];
  log: keyof typeof LOG_EVENTS;
  /** What `authserve outages` calls the time in which deliveries were refused. Null: none were. */
  outage: OutageKind | null;
  /** Whether the server goes on only after a restart. */
  needsRestart?: true;
  /** The alerts could not be stored, so that the server does not know of them after its restart. */
  isEndUntold?: true;
  /** When the server goes on after the fault, for the page. By default it does so by itself. */
  goesOn?: string;
}

// With their usual times each fault would take half a minute more.
const SOON = "notReady: { after: 1s }, writes: { after: 1s }";

/** It ends a minute after the last refused delivery, which nobody waits for here. */
const ENDS_LATE: AlertName = "AuthserveDeliveriesRefused";

interface SentAlert {
  status: "firing" | "resolved";
  labels: { alertname: AlertName };
}

/** Walks faults at the same time, each under a server of its own. */
export function walkAll(title: string, faults: readonly Fault[], options: { skip: string | false }): void {
  suite(title, { ...options, concurrency: 5 }, () => {
    for (const fault of faults) test(fault.name, fault.needs?.() ?? {}, (t) => walk(t, fault));
  });
}

/** Makes a fault under a running server, compares what is seen of it, ends it, and sees that all is well again. */
async function walk(t: TestContext, fault: Fault): Promise<void> {
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  const sent = (status: SentAlert["status"]) => {
    const all = target.received.flatMap(({ body }) => (JSON.parse(body.toString()) as { alerts: SentAlert[] }).alerts);
    const names = all.filter((alert) => alert.status === status).map(({ labels }) => labels.alertname);
    return [...new Set(names)].sort();
  };
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), `alerts: { notify: [{ webhook: ${target.url} }], ${SOON} }\n`);
  const { env, make } = await fault.prepare(t, dir);
  const server = await startServer({ dir, env });
  t.after(() => server[Symbol.asyncDispose]());
  // On a machine that stalls, the store may not answer in time.
  await until(async () => (await deliver(server, event("before"))).status === 200);

  const end = await make(server);
  try {
    await assertSeen(server, fault);
    await untilNames(() => sent("firing"), sorted(fault.alerts));
  } finally {
    if (fault.needsRestart) await server.stop();
    await end();
  }
  const well = fault.needsRestart ? await startAgain(t, server) : server;
  await assertWell(well);
  const ending = fault.isEndUntold ? [] : fault.alerts.filter((name) => name !== ENDS_LATE);
  await untilNames(() => sent("resolved").filter((name) => name !== ENDS_LATE), sorted(ending));
  assert.deepEqual(sent("firing"), sorted(fault.alerts));
  // Last: each look starts a command.
  await until(async () => kindsSeen(await outagesOf(well), fault).join() === (fault.outage ?? ""));
}

const sorted = (names: readonly string[]) => [...names].sort();

/** Waits until these names are read. Rejects with those that were read last. */
async function untilNames(read: () => string[] | Promise<string[]>, expected: readonly string[]): Promise<void> {
  let last: string[] = [];
  await until(async () => {
    last = await read();
    return last.join() === expected.join();
  }).catch((error) => {
    assert.deepEqual(last, expected);
    throw error;
  });
}

async function assertSeen(server: Server, fault: Fault): Promise<void> {
  const { json } = await ask(server, "/readyz");
  const all = Object.keys(json.parts as object).filter((part) => part !== "intake");
  const parts = fault.parts === ALL_BUT_INTAKE ? all : fault.parts;
  await untilNames(async () => notReady(await ask(server, "/readyz")), parts);
  const [delivery, login] = await Promise.all([
    deliver(server, event("during", { note: "x".repeat(20_000) })),
    tryLogin(server),
  ]);
  assert.deepEqual([delivery.status, login.status], [fault.delivery, fault.login]);
  await server.logged(fault.log);
  await doctorFinds(server, fault.doctor, fault.doctor === null && parts.length === 0 ? 0 : 1);
}

/** Waits until doctor finds this and exits so. A server that stalls does not answer doctor in time. */
async function doctorFinds(server: Server, found: string | null, code: number): Promise<void> {
  let last = "";
  const isSo = async () => {
    const examined = await server.run(["doctor"]);
    last = `${examined.code}: ${examined.stdout}`;
    return examined.code === code && (found === null || wrongFinding(found).test(examined.stdout));
  };
  await until(isSo).catch(() => assert.fail(`doctor finds otherwise, and exits with ${last}`));
}

/** The line of doctor with a finding that may have `…` for any text. */
function wrongFinding(found: string): RegExp {
  const literal = found.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".+");
  return new RegExp(`^wrong .*${literal}`, "m");
}

async function outagesOf(server: Server): Promise<{ kind: OutageKind }[]> {
  return JSON.parse((await server.run(["outages", "--json"])).stdout);
}

/** The kinds of outages. A restart, and a machine that stands still, are outages too. */
function kindsSeen(outages: readonly { kind: OutageKind }[], { outage }: Fault): OutageKind[] {
  const kinds = new Set(outages.map(({ kind }) => kind));
  return [...kinds].filter((kind) => (kind !== "stopped" && kind !== "restart") || outage === kind);
}

async function startAgain(t: TestContext, { dir, env }: Server): Promise<Server> {
  const server = await startServer({ dir, env });
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

async function assertWell(server: Server): Promise<void> {
  await until(async () => (await ask(server, "/readyz")).status === 200);
  await until(async () => (await deliver(server, event("after"))).status === 200);
  await until(async () => (await tryLogin(server)).status === 200);
}

/** The table of faults as `docs/faults.md` has it. */
export function pageTable(faults: readonly Fault[]): string {
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ") || "–";
  const rows = faults.map(({ name, delivery, login, parts, doctor, alerts, log, outage, goesOn }) =>
    row([
      name,
      String(delivery),
      String(login),
      parts === ALL_BUT_INTAKE ? parts : code(parts),
      doctor ?? "–",
      code(alerts.map((alert) => alert.slice("Authserve".length))),
      `\`${log}\``,
      outage ?? "–",
      goesOn ?? "by itself",
    ]),
  );
  const header = ["fault", "deliveries", "logins", "not ready", "`doctor`", "alerts", "log", "outage", "goes on"];
  return [row(header), `|${"---|".repeat(header.length)}`, ...rows].join("\n");
}
