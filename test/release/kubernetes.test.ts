import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { DEPLOY, needsReleasePackages, PACKAGES } from "./packages.ts";
import { modelOf, type Resource, unknownKeys } from "./resources.ts";

const GATEWAY_API = "@kubernetes-models/gateway-api";
const TRAEFIK = "@kubernetes-models/traefik";

const resourcesIn = (file: string): Resource[] =>
  parseAllDocuments(readFileSync(join(DEPLOY, file), "utf8"), { version: "1.1" }).map((document) => document.toJS());

/** The paths of the values in a resource, without places in lists. */
const pathsIn = (value: unknown, path: string): string[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, below]) => pathsIn(below, Array.isArray(value) ? path : `${path}.${key}`))
    : [path];

/** The names of members that a package of types knows in one of its files. */
const namesIn = (file: string) =>
  new Set(
    Array.from(readFileSync(join(PACKAGES, file), "utf8").matchAll(/^\s*"?(\w+)"?\??:/gm), ([, name = ""]) => name),
  );

/**
 * What the files may say to Envoy Gateway, by its charts/gateway-crds-helm of v1.9.0:
 * https://github.com/envoyproxy/gateway/blob/v1.9.0/charts/gateway-crds-helm/templates/generated
 */
const ENVOY_GATEWAY: Record<string, readonly string[]> = {
  SecurityPolicy: [
    ...["group", "kind", "name"].map((name) => `targetRefs.${name}`),
    ...["backendRefs.name", "backendRefs.port", "path", "headersToBackend"].map((name) => `extAuth.http.${name}`),
    "extAuth.headersToExtAuth",
  ],
  ClientTrafficPolicy: [
    ...["group", "kind", "name"].map((name) => `targetRefs.${name}`),
    "headers.withUnderscoresAction",
    ...["type", "value"].map((name) => `headers.earlyRequestHeaders.removeOnMatch.${name}`),
  ],
};

suite("the files of deploy/kubernetes", needsReleasePackages(), () => {
  test("the Ingress is valid by the description of Kubernetes", async () => {
    const [ingress, ...others] = resourcesIn("kubernetes/ingress-nginx.yaml") as [Resource, ...Resource[]];
    (await modelOf(ingress)).validate();
    assert.deepEqual([await unknownKeys(ingress), others], [[], []]);
  });

  test("the annotations exist, and have values that ingress-nginx accepts", () => {
    const { annotations } = parse(readFileSync(join(DEPLOY, "kubernetes/ingress-nginx.yaml"), "utf8")).metadata;
    // By internal/ingress/annotations of kubernetes/ingress-nginx, with HeadersVariable and URLWithNginxVariableRegex.
    const forms: Record<string, RegExp> = {
      "auth-url": /^http:\/\/[\w.-]+:\d+\/[\w/]+$/,
      // Without an address of its own to lead back to, which would not be escaped:
      // https://github.com/oauth2-proxy/oauth2-proxy/pull/269
      "auth-signin": /^https:\/\/[\w.-]+\/[\w/]+$/,
      "auth-always-set-cookie": /^true$/,
      "auth-response-headers": /^[A-Za-z0-9-_, ]*$/,
      "proxy-body-size": /^\d+[kmg]?$/,
      "proxy-request-buffering": /^(?:on|off)$/,
      "proxy-buffer-size": /^\d+[kmg]?$/,
    };
    const names = Object.keys(annotations).map((name) => name.replace("nginx.ingress.kubernetes.io/", ""));
    assert.deepEqual(names.sort(), Object.keys(forms).sort());
    for (const [name, form] of Object.entries(forms))
      assert.match(annotations[`nginx.ingress.kubernetes.io/${name}`], form, name);
  });

  test("the HTTPRoute is valid by the Gateway API, and the policies name members of Envoy Gateway", async () => {
    const [route, ...policies] = resourcesIn("kubernetes/envoy-gateway.yaml") as [Resource, ...Resource[]];
    (await modelOf(route, GATEWAY_API)).validate();
    assert.deepEqual(policies.map(({ kind }) => kind).sort(), Object.keys(ENVOY_GATEWAY).sort());
    for (const policy of policies as (Resource & { spec: unknown })[]) {
      assert.equal(policy.apiVersion, "gateway.envoyproxy.io/v1alpha1");
      const paths = pathsIn(policy.spec, "").map((path) => path.slice(1));
      assert.deepEqual([...new Set(paths)].sort(), [...(ENVOY_GATEWAY[policy.kind] ?? [])].sort());
    }
  });
});

test(
  "the middlewares of traefik-app.yaml are valid by the description of Traefik",
  needsReleasePackages(),
  async () => {
    const { middlewares } = parse(readFileSync(join(DEPLOY, "traefik-app.yaml"), "utf8")).http;
    const types = `${TRAEFIK}/traefik.io/v1alpha1`;
    for (const spec of Object.values(middlewares) as Record<string, object>[]) {
      const middleware = { apiVersion: "traefik.io/v1alpha1", kind: "Middleware", metadata: { name: "one" }, spec };
      (await modelOf(middleware, TRAEFIK)).validate();
      const known = { forwardAuth: namesIn(`${types}/ForwardAuth.d.ts`), headers: new Set(["customRequestHeaders"]) };
      for (const [kind, members] of Object.entries(spec)) {
        const names = known[kind as keyof typeof known];
        assert.deepEqual(
          Object.keys(members).filter((name) => !names.has(name)),
          [],
        );
      }
    }
  },
);
