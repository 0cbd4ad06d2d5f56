import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { readConfigFile } from "../../src/config/file/config-file.ts";
import { readServerSettings } from "../../src/config/server-settings.ts";
import { createParts, type Part, type Parts } from "../../src/serve/parts.ts";
import { serve } from "../../src/serve.ts";
import { recordingLog } from "../helpers/log.ts";
import { settings } from "../helpers/server.ts";
import { pairNamed } from "../helpers/tls.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const dir = workingDir();
const dataDir = join(dir, "data");
const file = join(dir, "authserve.yaml");
writeFileSync(join(dir, "addresses.txt"), "127.0.0.1\n");
writeFileSync(
  file,
  'sources:\n  shop: { preset: github, secrets: [env:WEBHOOK_SECRET], allowedAddresses: ["file:./addresses.txt"], keepRejected: {} }\n',
);
const { cert, key } = pairNamed("first");
const environment = settings(dir, { CONFIG_FILE: file, TLS_CERT_FILE: cert, TLS_KEY_FILE: key });

const start = async (parts?: Parts) =>
  serve(
    {
      settings: await readServerSettings(environment),
      environment,
      file,
      readFile: () => readConfigFile(environment),
      reloadsAtHangup: false,
    },
    recordingLog().log,
    parts,
  );

/** Parts whose start fails at this index, before it has begun or when it has ended. */
function partsFailingAt(index: number, when: "before" | "after"): Parts {
  const parts = createParts();
  let steps = 0;
  const failing = (part: Part): Part => ({
    ...part,
    async start() {
      if (when === "after") await part.start?.();
      throw new Error("the injected fault");
    },
  });
  return { ...parts, start: (...group) => parts.start(...(steps++ === index ? group.map(failing) : group)) };
}

/** What Node opens by itself, or keeps until garbage is collected, is not looked at. */
const KINDS = ["Timeout", "TCPSERVERWRAP", "TCPWRAP", "TLSWRAP", "WORKER", "MESSAGEPORT"];

/** What a server keeps in its data directory. */
const LASTING = ["address-lists", "authserve.db", "serve.lock"];

/** Waits until what a run has opened is closed. */
async function closesAll(run: () => Promise<void>): Promise<void> {
  const open = new Map<number, string>();
  const late: string[] = [];
  let isRunning = true;
  const hook = createHook({
    init(id, kind) {
      if (isRunning && KINDS.includes(kind)) open.set(id, kind);
    },
    // A timer that fires later may set another one.
    before(id) {
      if (!isRunning && open.get(id) === "Timeout") late.push("Timeout");
    },
    destroy: (id) => void open.delete(id),
  }).enable();
  await run();
  isRunning = false;
  await until(() => open.size === 0, 10_000).catch(() => late.push(...open.values()));
  hook.disable();
  assert.deepEqual(late, []);
  assert.deepEqual(openFiles(), []);
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => !LASTING.includes(name)),
    [],
  );
}

/** The files in the folder that this process has open. A lock ends with its file. */
function openFiles(): string[] {
  const targetOf = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  };
  return readdirSync("/proc/self/fd")
    .map(targetOf)
    .filter((target) => target.startsWith(dir));
}

suite("a start leaves no socket, thread, timer, lock or file, and a later one works", () => {
  for (const [what, when] of [
    ["if any part fails before it has started", "before"],
    ["if any part fails when it has started", "after"],
  ] as const) {
    test(what, async () => {
      let failures = 0;
      for (let isStarted = false; !isStarted; ) {
        await closesAll(async () => {
          try {
            const server = await start(partsFailingAt(failures, when));
            await server.stop();
            isStarted = true;
          } catch (error) {
            assert.match((error as Error).message, /^the injected fault(?:; the injected fault)*$/);
            failures++;
          }
        });
      }
      assert.ok(failures > 5, String(failures));
    });
  }
});
