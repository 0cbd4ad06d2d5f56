import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { isSettingName } from "../../src/config/settings.ts";
import { needsCaddy } from "../helpers/back-end.ts";
import { DEPLOY, needsReleasePackages, PACKAGES } from "./packages.ts";

const FILES = [
  "compose.yaml",
  "compose.redis.yaml",
  "compose.postgresql.yaml",
  "compose.traefik.yaml",
  "cluster/compose.yaml",
];

interface Service {
  image: string;
  environment?: Record<string, string>;
  volumes?: string[];
  read_only?: boolean;
  labels?: Record<string, string>;
}

const read = (file: string) =>
  parse(readFileSync(join(DEPLOY, file), "utf8"), { merge: true }) as { services: Record<string, Service> };
const serversIn = (file: string) => Object.entries(read(file).services).filter(([name]) => /^authserve/.test(name));

suite("the files for Compose", needsReleasePackages(), () => {
  for (const file of FILES) {
    test(`${file} is valid by the schema of Compose`, () => {
      const schema = JSON.parse(readFileSync(join(PACKAGES, "dclint/schemas/compose.schema.json"), "utf8"));
      // The formats name what Compose itself parses, e.g. durations.
      const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
      const isValid = ajv.compile({ ...schema, $schema: "http://json-schema.org/draft-07/schema#" });
      assert.ok(isValid(read(file)), JSON.stringify(isValid.errors, null, 1));
    });

    test(`${file} sets settings that exist`, () => {
      const names = serversIn(file).flatMap(([, { environment = {} }]) => Object.keys(environment));
      assert.deepEqual(
        names.filter((name) => !isSettingName(name)),
        [],
      );
    });

    test(`${file} mounts files that exist`, () => {
      const volumes = Object.values(read(file).services).flatMap(({ volumes = [] }) => volumes);
      const files = volumes.map((volume) => String(volume.split(":")[0])).filter((path) => path.startsWith("./"));
      const folder = join(DEPLOY, file, "..");
      assert.deepEqual(
        files.filter((path) => !existsSync(join(folder, path))),
        [],
      );
    });
  }
});

/** A tree as its leaves, by path: as Traefik reads the names of labels, which are the same in any case. */
const leaves = (value: unknown, path: string): [string, string][] =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([name, below]) => leaves(below, `${path}.${name}`))
    : [[path.toLowerCase(), Array.isArray(value) ? value.join(",") : String(value)]];

test("the labels of compose.traefik.yaml say what traefik-app.yaml says", () => {
  const { routers, middlewares } = parse(readFileSync(join(DEPLOY, "traefik-app.yaml"), "utf8")).http;
  const inFile = leaves({ routers, middlewares }, "traefik.http")
    // A router leads to the container that has its labels.
    .filter(([path]) => !/^traefik\.http\.routers\.[^.]+\.service$/.test(path))
    .map(([path, value]) => [path, value.replace("[object Object]", "true").replace("127.0.0.1", "authserve")]);
  const labels = Object.values(read("compose.traefik.yaml").services)
    .flatMap(({ labels = {} }) => Object.entries(labels))
    .filter(([name]) => /^traefik\.http\.(?:routers|middlewares)\./.test(name))
    .map(([name, value]) => [name.toLowerCase(), value.replaceAll("$$", "$")]);
  assert.deepEqual(labels.sort(), inFile.sort());
});

test("Caddy accepts the configuration of compose.postgresql.yaml", needsCaddy(), () => {
  const file = join(DEPLOY, "Caddyfile.compose");
  const env = { ...process.env, AUTHSERVE_HOST: "auth.example.com" };
  const adapted = execFileSync("caddy", ["adapt", "--adapter", "caddyfile", "--config", file], {
    env,
    encoding: "utf8",
  });
  assert.match(adapted, /"host":\["auth\.example\.com"\]/);
});
