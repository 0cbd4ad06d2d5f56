import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { ask, deliver, event, notReady, tryLogin } from "./client.ts";
import { type Server, startServer } from "./server.ts";
import { startTarget } from "./target.ts";
import { until } from "./until.ts";
import { workingDir } from "./working-dir.ts";

/** A fault, and what is seen of it. `Place` is where it is made. */
export interface Fault<Place> {
  name: string;
  /** Makes it. Returns what ends it. */
  make(place: Place): (() => unknown) | Promise<() => unknown>;
  /** The status of a delivery and of a login. */
  delivery: number;
  login: number;
  /** The parts that `/readyz` names. */
  parts: readonly string[];
  /** What doctor finds wrong. */
  doctor: RegExp;
  /** An alert that is sent, and sent again as resolved when the fault has ended. */
  alert: string;
  /** A log event. */
  log: string;
}

/** The store of a server: the settings that name it, and the place where faults are made. */
export interface FaultyStore<Place> {
  env: Record<string, string>;
  place(server: Server): Place;
}

/** Makes a fault under a running server, compares what is seen of it, and ends it: the server must go on by itself. */
export async function walk<Place>(t: TestContext, fault: Fault<Place>, store: FaultyStore<Place>): Promise<void> {
  const alerts = await startTarget();
  t.after(() => alerts[Symbol.asyncDispose]());
  const dir = workingDir();
  writeFileSync(
    join(dir, "authserve.yaml"),
    `alerts: { notify: [{ webhook: ${alerts.url} }], notReady: { after: 1s } }\n`,
  );
  await using server = await startServer({ dir, env: store.env });
  const sent = () => alerts.received.map(({ body }) => body.toString());
  const isSent = (status: string) =>
    until(() => sent().some((text) => text.includes(fault.alert) && text.includes(`"${status}"`)));
  assert.equal((await deliver(server, event("before"))).status, 200);

  const end = await fault.make(store.place(server));
  try {
    await until(async () => notReady(await ask(server, "/readyz")).join() === fault.parts.join());
    const [delivery, login] = await Promise.all([deliver(server, event("during")), tryLogin(server)]);
    assert.deepEqual([delivery.status, login.status], [fault.delivery, fault.login]);
    const { code, stdout } = await server.run(["doctor"]);
    assert.equal(code, 1, stdout);
    assert.match(stdout, fault.doctor);
    await server.logged(fault.log);
    await isSent("firing");
  } finally {
    await end();
  }
  await until(async () => (await ask(server, "/readyz")).status === 200);
  await until(async () => (await deliver(server, event("after"))).status === 200);
  assert.equal((await tryLogin(server)).status, 200);
  await isSent("resolved");
}
