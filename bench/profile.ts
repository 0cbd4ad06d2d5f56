/**
 * `node bench/profile.ts [CHECKOUT]` shows how the HTTP thread spends its time, by part. It plays deliveries, then
 * `GET /auth/me`, against the server of a checkout (by default this one) under Node's CPU profiler.
 */
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { playGet, tokenOf } from "./auth-load.ts";
import { writeCorpusFor } from "./corpus.ts";
import { playCorpus } from "./load.ts";
import { makeScratch, removeScratch, startCheckout, type Target, WEBHOOK_SECRET } from "./targets.ts";

const CONNECTIONS = 64;
const SECONDS = 8;
const SAMPLE_US = 200;

interface CallFrame {
  functionName: string;
  url: string;
}

interface Profile {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

const SYSTEM_CALLS = /^(?:writeUtf8String|writeLatin1String|writev|writeBuffer)$/;

/** The part that a function belongs to; undefined if its caller decides. */
function partOf({ functionName, url }: CallFrame): string | undefined {
  if (SYSTEM_CALLS.test(functionName)) return "sending (system call)";
  if (functionName === "(garbage collector)") return "garbage collection";
  const own = /\/src\/(?:(strict-json|json-scan|log|batch|counting|metrics|app)\.ts|([a-z]+)\/)/.exec(url);
  if (own) return `src/${own[1] ?? own[2]}`;
  const library = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  if (library) return library;
  return url.startsWith("node:internal/streams") || /^node:(?:_?http|net|internal\/stream)/.test(url)
    ? "node:http"
    : undefined;
}

/** Microseconds by part, without idle time. Each sample counts for the innermost function that has a part. */
function timeByPart({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const parts = new Map<number, string>();
  for (const { id, callFrame } of nodes) {
    if (callFrame.functionName === "(idle)") continue;
    let part: string | undefined;
    for (let at: number | undefined = id; at !== undefined && part === undefined; at = parents.get(at)) {
      part = partOf(frames.get(at) as CallFrame);
    }
    parts.set(id, part ?? "the rest of Node");
  }
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const part = parts.get(id);
    if (part !== undefined) times.set(part, (times.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return times;
}

async function profile(
  checkout: string,
  scratch: string,
  play: (server: Target) => Promise<number>,
): Promise<Map<string, number>> {
  const dir = mkdtempSync(join(scratch, "profile-"));
  const flags = ["--cpu-prof", `--cpu-prof-dir=${dir}`, `--cpu-prof-interval=${SAMPLE_US}`];
  const server = await startCheckout(scratch, checkout, flags);
  let requests = 0;
  try {
    requests = await play(server);
  } finally {
    await server.stop();
  }
  const profiles = readdirSync(dir).map((file) => JSON.parse(readFileSync(join(dir, file), "utf8")) as Profile);
  const ofHttpThread = profiles.map(timeByPart).find((times) => times.has("sending (system call)"));
  if (ofHttpThread === undefined) throw new Error("no profile of a thread that answers was written");
  return new Map([...ofHttpThread].map(([part, us]) => [part, us / requests]));
}

function print(title: string, times: ReadonlyMap<string, number>): void {
  const total = [...times.values()].reduce((sum, us) => sum + us, 0);
  console.log(`\n${title}: ${total.toFixed(1)} us`);
  for (const [part, us] of [...times].sort(([, a], [, b]) => b - a)) {
    if (us >= total / 100) console.log(`${us.toFixed(1).padStart(6)}  ${part}`);
  }
}

const checkout = resolve(process.argv[2] ?? join(import.meta.dirname, ".."));
const scratch = makeScratch();
try {
  const corpus = join(scratch, "corpus.tsv");
  await writeCorpusFor(SECONDS, corpus, WEBHOOK_SECRET, "evt_p");
  const deliveries = await profile(checkout, scratch, async (server) => {
    return (await playCorpus(server, { connections: CONNECTIONS, seconds: SECONDS, corpus })).requests;
  });
  print("a delivery", deliveries);
  const guarded = await profile(checkout, scratch, async (server) => {
    const token = await tokenOf(server);
    return (
      (await playGet(`${server.url}/auth/me`, [`Authorization: Bearer ${token}`], CONNECTIONS, SECONDS)).perSecond *
      SECONDS
    );
  });
  print("GET /auth/me", guarded);
} finally {
  removeScratch(scratch);
}
