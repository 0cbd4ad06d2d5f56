import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { suite, test } from "node:test";

const SRC = join(import.meta.dirname, "../src");

/** Logic: each part imports what is below it, and no other part. */
const PARTS = ["auth", "webhook", "worker", "nodes", "alerts", "admin"];

/** Adapters: each imports the ports that it implements and its one package, and no other adapter. */
const DRIVERS = ["sqlite", "redis", "postgres"];

/**
 * Modules below all parts. The ports are in their domain: `events`, `audit`, the `store.ts` of a part, and these.
 */
const BASE = ["lib", "errors", "log", "log-events", "metrics", "events", "audit"];
const PORTS = [
  "auth/sessions.ts",
  "auth/people/store.ts",
  "webhook/intake/refusal-store.ts",
  "webhook/intake/source-store.ts",
  "webhook/intake/source-times.ts",
  "webhook/held/held-store.ts",
  "webhook/outages/outage.ts",
  "alerts/alert.ts",
];

/** What each folder, or file directly in `src`, may import besides itself. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  lib: ["errors"],
  errors: [],
  log: ["lib", "log-events"],
  "log-events": [],
  metrics: ["errors", "events", "lib"],
  events: ["lib"],
  audit: ["errors", "lib"],
  storage: ["audit", "errors", "events", "lib"],
  auth: BASE,
  webhook: BASE,
  worker: BASE,
  nodes: BASE,
  alerts: BASE,
  admin: [...BASE, "operations"],
  operations: [...BASE, ...PARTS, "http", "stores"],
  sqlite: [...BASE, "storage"],
  redis: BASE,
  postgres: [...BASE, "storage"],
  http: BASE,
  instrument: [...BASE, ...PARTS],
  config: [...BASE, ...PARTS, ...DRIVERS, "http"],
  platform: [...BASE, "config"],
  app: [...BASE, ...PARTS, "http", "operations"],
  stores: [...BASE, ...PARTS, ...DRIVERS, "storage", "config", "platform"],
  serve: [...BASE, ...PARTS, "http", "config", "platform", "app", "stores", "instrument", "operations"],
  cli: [...BASE, ...PARTS, ...DRIVERS, "storage", "http", "config", "platform", "stores", "serve", "operations"],
};

/** The only place that may import each package. */
const PACKAGES: Record<string, RegExp> = {
  h3: /^http\/router\.ts$/,
  jose: /^auth\/(?:device-binding|token|clients\/signing-keys)\.ts$/,
  ioredis: /^redis\//,
  pg: /^postgres\//,
  "@node-rs/argon2": /^auth\/password\.ts$/,
  "@node-rs/bcrypt": /^auth\/bcrypt\.ts$/,
  "better-sqlite3": /^sqlite\//,
  "prom-client": /^metrics\.ts$/,
  pino: /^log\.ts$/,
  commander: /^cli\//,
  "string-width": /^cli\/load-string-width\.ts$/,
  yaml: /^config\/file\/yaml-document\.ts$/,
  "@valibot/to-json-schema": /^(?:config\/file\/json-schema|http\/openapi)\.ts$/,
  valibot:
    /^(?:config\/|http\/|operations\/|auth\/browser\/(?:verify|account|clients|device-binding|invitation)\.ts$|admin\/host\/manual\.ts$|[a-z]+\/(?:browser\/|host\/|handshakes\/)?endpoints\.ts$)/,
  jsonata: /^worker\/transform\/load-jsonata\.ts$/,
  esbuild: /^platform\/page-bundle\.ts$/,
  "markdown-it": /^platform\/site\/render\.ts$/,
  preact: /^admin\/page\//,
  "@preact/signals": /^admin\/page\//,
  uplot: /^admin\/page\//,
  "@simplewebauthn/server": /^auth\/factors\/(?:simplewebauthn|passkeys)\.ts$/,
  "@simplewebauthn/browser": /^auth\/browser\/script\//,
  nodemailer: /^alerts\/notifiers\/nodemailer\.ts$/,
  otplib: /^auth\/factors\/otplib\.ts$/,
  uqr: /^auth\/factors\/uqr\.ts$/,
  tldts: /^config\/tldts\.ts$/,
};

/** What the file of a provider may import: what describes providers, and the one that it is another name of. */
const OF_PROVIDERS = [
  "lib/durations.ts",
  "lib/request-target.ts",
  "lib/signed-jwt.ts",
  "webhook/provider.ts",
  "webhook/provider/catch-up.ts",
  "webhook/provider/described-handshakes.ts",
  "webhook/provider/handshake.ts",
  "webhook/provider/sample.ts",
  "webhook/provider/stripe-objects.ts",
  "webhook/signature/schemes.ts",
  "webhook/signature/signing.ts",
  "webhook/signature/signed-text.ts",
  "webhook/signature/signature-items.ts",
  "webhook/signature/sorted-form.ts",
  "webhook/content/body.ts",
  "webhook/content/content.ts",
];
/** The folders of a part, and the files beside them, in their order: each may import those before it only. */
const LAYERS: Record<string, readonly string[]> = {
  webhook: [
    "capture",
    "content",
    "addresses",
    "signature",
    "provider/",
    "provider",
    "provider-files",
    "providers",
    "intake",
    "secrets",
    "held",
    "catch-up",
    "provider-description",
    "subscriptions",
    "source",
    "default-source",
    "strays",
    "outages",
    "samples",
    "handshakes",
    "stages",
    "endpoints",
  ],
};
const isProvider = (file: string) => file.startsWith("webhook/providers/") && file !== "webhook/providers/index.ts";

interface Import {
  from: string;
  to: string;
}

const placeOf = (file: string) => file.split("/")[0]?.replace(/\.ts$/, "") as string;

/** Where a file is within the layers of its part. A folder beside a file of its name has a slash. */
function layerOf(file: string, layers: readonly string[]): number {
  const [, name = "", ...rest] = file.split("/");
  const isFolder = rest.length > 0;
  return layers.indexOf(isFolder && layers.includes(`${name}/`) ? `${name}/` : name.replace(/\.ts$/, ""));
}

/** Whether an import within a part goes to a higher layer, or to none that is known. */
function isUpwards({ from, to }: Import): boolean {
  const layers = LAYERS[placeOf(from)];
  if (!layers || placeOf(from) !== placeOf(to)) return false;
  const [own, target] = [layerOf(from, layers), layerOf(to, layers)];
  return own === -1 || target === -1 || target > own;
}

/** The fault of an import between two files of `src`; null if it is allowed. */
function faultOf({ from, to }: Import): string | null {
  const [place, target] = [placeOf(from), placeOf(to)];
  const allowed = MAY_IMPORT[place];
  if (!allowed) return `${from} lies in a place that the architecture does not know`;
  // It is loaded when it is asked for by name. Another name of it is a file that spreads it.
  if (isProvider(to)) return isProvider(from) ? null : `${from} imports ${to}`;
  if (isProvider(from) && !OF_PROVIDERS.includes(to)) return `${from} imports ${to}`;
  // `selftest` is a command over what tests run.
  if (to.startsWith("../test/selftest/") && /^cli\/selftest/.test(from)) return null;
  if (isUpwards({ from, to })) return `${from} imports ${to}, which is above it`;
  if (place === target || allowed.includes(target)) return null;
  if ([...DRIVERS, "storage"].includes(place) && (to.endsWith("/store.ts") || PORTS.includes(to))) return null;
  // The endpoints of a part may use HTTP. The pages and the files of the API are endpoints.
  const isEndpoint = from.endsWith("/endpoints.ts") || /^(?:auth\/browser\/|admin\/host\/)/.test(from);
  if (PARTS.includes(place) && isEndpoint && target === "http") return null;
  return `${from} imports ${to}`;
}

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), "utf8");
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] as string);
  return found.map((name) => (name.startsWith(".") ? normalize(join(dirname(file), name)) : name));
}

const ownImportsOf = (file: string) => importsOf(file).filter((name) => /\.tsx?$/.test(name));

test("every import is allowed for its folder", () => {
  const imports = files.flatMap((from) => ownImportsOf(from).map((to) => ({ from, to })));
  assert.deepEqual(
    imports.map(faultOf).filter((fault) => fault !== null),
    [],
  );
});

suite("the architecture refuses an import", () => {
  for (const [what, from, to] of [
    ["between two drivers", "redis/sessions.ts", "sqlite/database.ts"],
    ["between two parts", "worker/worker.ts", "webhook/intake/intake.ts"],
    ["from the endpoints of a part to another part", "webhook/endpoints.ts", "auth/authenticate.ts"],
    ["from a part to serve", "worker/worker.ts", "serve.ts"],
    ["from a part to stores", "auth/login.ts", "stores.ts"],
    ["from a part to app", "webhook/endpoints.ts", "app.ts"],
    ["from a part to a driver", "auth/login.ts", "sqlite/sessions.ts"],
    ["from a part's logic to http", "auth/login.ts", "http/endpoint.ts"],
    ["from a driver to a part's logic", "sqlite/sessions.ts", "auth/login.ts"],
    ["from a part to the settings", "worker/worker.ts", "config/settings.ts"],
    ["from lib to anything above it", "lib/batch.ts", "events/store.ts"],
    ["of a command", "serve.ts", "cli/main.ts"],
    ["of a provider", "webhook/endpoints.ts", "webhook/providers/stripe.ts"],
    ["from a provider to what receives deliveries", "webhook/providers/stripe.ts", "webhook/intake/intake.ts"],
    ["from a layer of a part to a higher one", "webhook/signature/jwt.ts", "webhook/source.ts"],
    ["from a layer of a part that it does not know", "webhook/new/one.ts", "webhook/content/content.ts"],
    ["from a folder it does not know", "helpers/all.ts", "errors.ts"],
  ] as const) {
    test(what, () => assert.notEqual(faultOf({ from, to }), null));
  }
});

test("the folder of the providers has one file for each, and no folder", () => {
  const entries = readdirSync(join(SRC, "webhook/providers"), { withFileTypes: true });
  const others = entries.filter((entry) => !entry.isFile() || !/^[a-z][a-z0-9_]*\.ts$/.test(entry.name));
  assert.deepEqual(
    others.map(({ name }) => name),
    [],
  );
});

test("at most eight files are directly in src", () => {
  assert.ok(files.filter((file) => !file.includes("/")).length <= 8);
});

test("each package is known, and imported only where it belongs", () => {
  const wrong: string[] = [];
  for (const file of files) {
    for (const name of importsOf(file)) {
      if (/\.(?:tsx?|json|css)$/.test(name) || name.startsWith("node:")) continue;
      const owner = Object.keys(PACKAGES).find((candidate) => name === candidate || name.startsWith(`${candidate}/`));
      if (!owner || !PACKAGES[owner]?.test(file)) wrong.push(`${file} imports ${name}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("imports form no cycle", () => {
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): void => {
    assert.ok(!trail.includes(file), `cycle: ${[...trail, file].join(" → ")}`);
    if (done.has(file)) return;
    for (const name of ownImportsOf(file)) visit(name, [...trail, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});

test("the process is ended in one place only", () => {
  const enders = files.filter((file) => /process\.exit\(/.test(readFileSync(join(SRC, file), "utf8")));
  assert.deepEqual(enders, ["cli/main.ts"]);
});
