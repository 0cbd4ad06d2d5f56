import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfigFile } from "../../src/config/file/config-file.ts";
import { ConfigFileError } from "../../src/config/file/errors.ts";
import { ROUTE_SETTING_NAMES, routesOf } from "../../src/config/routes.ts";
import { readSettings } from "../../src/config/settings.ts";
import type { Route } from "../../src/worker/route.ts";
import { workingDir } from "./working-dir.ts";

export const dir = workingDir();
const file = join(dir, "authserve.yaml");

export const ENVIRONMENT = {
  SECRET: "a secret of the tests",
  OTHER: "another secret of the tests",
  PAIR: "user:a password of the tests",
  HEX: "00112233445566778899",
  BASIC: "user:a password of the tests",
};

const SHOP = "sources:\n  shop: { preset: github, secrets: [env:SECRET] }\n";

export function read(yaml: string | Buffer, environment: Record<string, string> = {}) {
  writeFileSync(file, yaml);
  return readConfigFile({ CONFIG_FILE: file, ...ENVIRONMENT, ...environment });
}

/** The one source of a file. */
export function sourceIn(entry: string) {
  const sources = read(`sources:\n  shop: ${entry}\n`)?.sources ?? [];
  assert.equal(sources.length, 1);
  const [source] = sources;
  assert.ok(source);
  return source;
}

/** The routes of a file with the defaults of `environment`. */
export function routesIn(routes: string, environment: Record<string, string> = {}): Route[] {
  const file = read(`${SHOP}routes:\n${routes}\n`, environment);
  return routesOf(readSettings(environment, ROUTE_SETTING_NAMES), file);
}

/** The one route of a file. */
export function routeIn(entry: string, environment?: Record<string, string>): Route {
  const [route, ...more] = routesIn(`  - ${entry}`, environment);
  assert.ok(route);
  assert.deepEqual(more, []);
  return route;
}

/** The lines that a file is refused with, without its path. */
export function faults(yaml: string | Buffer, environment?: Record<string, string>): string[] {
  try {
    read(yaml, environment);
  } catch (error) {
    assert.ok(error instanceof ConfigFileError, String(error));
    assert.ok(error.lines.every((line) => line.startsWith(`${file}:`)));
    return error.lines.map((line) => line.slice(file.length + 1));
  }
  throw new Error("the file was accepted");
}

/** The faults of a source, without their positions. */
export const faultsOf = (entry: string) =>
  faults(`sources:\n  shop: ${entry}\n`).map((line) => line.replace(/^\d+:\d+ sources\.shop\.?/, ""));

/** The faults of a route, with their columns. */
export const routeFaultsOf = (entry: string, environment?: Record<string, string>) =>
  faults(`${SHOP}routes:\n  - ${entry}\n`, environment).map((line) => line.replace(/^\d+:(\d+) routes\.0\.?/, "$1 "));
