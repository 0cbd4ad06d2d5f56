import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

const SRC = join(import.meta.dirname, "../src");

/** Layers from the bottom up: a file belongs to the first whose pattern fits its path. */
const LAYERS = [
  {
    name: "base",
    files:
      /^(?:errors|log|metrics|text|email|password-hash|password-text|strict-json|json-scan|batch|slots|promised|printable|garbage-collection|cores|make-dir|link-or-copy|flush|pem-file|within|until-done|packaging|licenses|system-authorities|events\/event|.*\/(?:throttle-)?store)\.ts$/,
    // An adapter is called store.ts too, in a folder named after its driver.
    except: /^events\/(?:sqlite|postgres)\//,
    imports: ["base"],
  },
  { name: "config", files: /^config\//, imports: ["base"] },
  {
    name: "adapter",
    files:
      /^(?:sqlite\/|redis\/(?:client|connection|once-cluster|sentinel-watch|unnamed-hosts)\.ts|events\/sqlite\/|auth\/sessions\/(?:embedded|redis)\.ts|auth\/throttle-(?:sqlite|redis|under-way)\.ts)/,
    imports: ["base"],
  },
  {
    name: "wiring",
    files: /^(?:(?:app|routes|serve|counting|.*\/open)\.ts$|storage\/|serving\/|threads\/)/,
    imports: ["base", "config", "adapter", "logic", "http", "wiring"],
  },
  { name: "http", files: /^(?:http\/|auth\/authenticate\.ts|.*\/routes\.ts)/, imports: ["base", "http"] },
  { name: "logic", files: /^(?:auth|webhook|worker)\//, imports: ["base"] },
  // What stands in for packaging.ts in the single binary, and its entry.
  { name: "binary", files: /^binary\//, imports: ["base", "config", "cli"] },
  { name: "cli", files: /^cli\//, imports: ["base", "config", "logic", "http", "wiring", "adapter"] },
] as const;

/** Each package has one place that knows it. */
const PACKAGES: Record<string, RegExp> = {
  h3: /^(?:app|http\/(?:exchange|listener))\.ts$/,
  srvx: /^http\/listener\.ts$/,
  jose: /^auth\/token\.ts$/,
  ioredis: /^redis\/(?:client|connection|once-cluster|sentinel-watch|unnamed-hosts)\.ts$/,
  "@node-rs/argon2": /^auth\/password\.ts$/,
  "@node-rs/bcrypt": /^auth\/password\.ts$/,
  "better-sqlite3": /^sqlite\//,
  "prom-client": /^metrics\.ts$/,
  pino: /^log\.ts$/,
  commander: /^cli\/(?:main|command-tree|completion|man)\.ts$/,
  valibot: /^(?:config\/(?:fields|settings)|http\/body|auth\/routes)\.ts$/,
};

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), "utf8");
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] as string);
  return found.map((name) => (name.startsWith(".") ? normalize(join(dirname(file), name)) : name));
}

function layerOf(file: string) {
  const layer = LAYERS.find(
    (candidate) => candidate.files.test(file) && !("except" in candidate && candidate.except.test(file)),
  );
  assert.ok(layer, `${file} belongs to no layer`);
  return layer;
}

const partOf = (file: string) => file.split("/")[0] as string;

test("every import points from a layer to one it may know", () => {
  const wrong: string[] = [];
  for (const file of files) {
    const layer = layerOf(file);
    for (const name of importsOf(file).filter((target) => target.endsWith(".ts"))) {
      const target = layerOf(name);
      const sameFolder = target.name === layer.name && partOf(name) === partOf(file);
      // Routes and guards know the logic of their own part, and adapters know the database they share.
      const ownLogic = layer.name === "http" && target.name === "logic" && partOf(name) === partOf(file);
      const ownDriver = layer.name === "adapter" && /^(?:sqlite|redis)\//.test(name);
      const allowed = (layer.imports as readonly string[]).includes(target.name);
      if (!allowed && !sameFolder && !ownLogic && !ownDriver)
        wrong.push(`${file} (${layer.name}) imports ${name} (${target.name})`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("auth, webhook and worker do not know each other", () => {
  const parts = ["auth", "webhook", "worker"];
  const wrong = files
    .filter((file) => parts.includes(partOf(file)))
    .flatMap((file) => importsOf(file).map((name) => ({ file, name })))
    .filter(({ file, name }) => name.endsWith(".ts") && parts.includes(partOf(name)) && partOf(name) !== partOf(file));
  assert.deepEqual(wrong, []);
});

test("each package is imported only where it belongs, and none is unknown", () => {
  const wrong: string[] = [];
  for (const file of files) {
    for (const name of importsOf(file)) {
      if (name.endsWith(".ts") || name.startsWith("node:") || name.endsWith("package.json")) continue;
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
    for (const name of importsOf(file).filter((target) => target.endsWith(".ts"))) visit(name, [...trail, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});

test("the process is ended in one place only", () => {
  const enders = files.filter((file) => /process\.exit\(/.test(readFileSync(join(SRC, file), "utf8")));
  assert.deepEqual(enders, ["cli/main.ts"]);
});
