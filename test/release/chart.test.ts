import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { Ajv } from "ajv";
import { parse, parseAllDocuments } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { needs, needsAll } from "../helpers/back-end.ts";
import { DEPLOY, needsReleasePackages } from "./packages.ts";
import { modelOf, type Resource, unknownKeys } from "./resources.ts";

const CHART = join(DEPLOY, "helm/authserve");
const GO_PATH = "/usr/share/gocode";

const needsGo = () =>
  needs(
    "the chart",
    () => existsSync(join(GO_PATH, "src/github.com/Masterminds/sprig")) && existsSync("/usr/bin/go"),
    "Helm's template engine is missing (Debian: apt-get install golang-go golang-github-masterminds-sprig-dev golang-gopkg-yaml.v3-dev)",
  );

/** Sets of values, each of which uses another part of the chart. */
const VALUES = {
  "the chart's own values": {},
  "two servers on PostgreSQL": { postgresql: true, replicas: 2, settings: { FORWARD_URL: "http://app/events" } },
  "an ingress, a configuration file and every option": {
    image: { repository: "registry.example/authserve", tag: "1", pullPolicy: "Always" },
    imagePullSecrets: [{ name: "registry" }],
    config: { sources: { github: { preset: "github", secrets: ["env:GITHUB_SECRET"] } } },
    persistence: { storageClass: "fast" },
    ingress: { enabled: true, className: "nginx", annotations: { a: "b" }, tlsSecretName: "tls" },
    nodeSelector: { disk: "fast" },
    tolerations: [{ key: "a", operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    podAnnotations: { c: "d" },
  },
};

suite("the chart for Kubernetes", needsAll(needsGo(), needsReleasePackages()), () => {
  const scratch = mkdtempSync(join(tmpdir(), "authserve-chart-"));
  after(() => rmSync(scratch, { recursive: true, force: true }));
  const renderer = join(scratch, "render");
  execFileSync("go", ["build", "-o", renderer, join(import.meta.dirname, "render/main.go")], {
    env: { ...process.env, GO111MODULE: "off", GOPATH: GO_PATH, GOCACHE: join(scratch, "cache"), GOFLAGS: "" },
  });
  const render = (values: object) =>
    spawnSync(renderer, [CHART, "authserve"], { input: JSON.stringify(values), encoding: "utf8" });
  const resourcesOf = (values: object) => {
    const { stdout, stderr, status } = render(values);
    assert.equal(status, 0, stderr);
    // Kubernetes reads YAML 1.1.
    const documents = parseAllDocuments(stdout, { version: "1.1" });
    return documents.map((document) => document.toJS()).filter((content): content is Resource => content !== null);
  };

  for (const [name, values] of Object.entries(VALUES)) {
    test(`with ${name}, each resource is valid by the description of Kubernetes`, async () => {
      const resources = resourcesOf(values);
      assert.ok(resources.length >= 2);
      for (const resource of resources) {
        (await modelOf(resource)).validate();
        assert.deepEqual(await unknownKeys(resource), []);
      }
    });

    test(`with ${name}, the values are valid by the schema of the chart`, () => {
      const isValid = new Ajv({ allowUnionTypes: true }).compile(
        JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8")),
      );
      assert.ok(isValid({ ...read("values.yaml"), ...values }), JSON.stringify(isValid.errors));
    });
  }

  test("several servers without PostgreSQL are refused", () => {
    const { status, stderr } = render({ replicas: 2 });
    assert.equal(status, 1);
    assert.match(stderr, /replicas above 1 needs PostgreSQL/);
  });

  test("has the version of the package", () => {
    const { version, appVersion } = read("Chart.yaml");
    assert.deepEqual([version, appVersion], [packageJson.version, packageJson.version]);
  });
});

const read = (file: string) => parse(readFileSync(join(CHART, file), "utf8"));
