import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { BELIEVED_HEADERS } from "../../src/http/proxies.ts";
import { IDENTITY_HEADERS } from "../helpers/identity-headers.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(ROOT, "deploy", file), "utf8");

/** The headers that a configuration sets or removes in requests to authserve. */
type Handled = (text: string) => (header: string) => boolean;

/** A place of nginx that passes requests to authserve: `proxy_set_header` counts for one place only. */
const nginx: Handled = (text) => {
  const places = text
    .match(/ {4}location [\s\S]*?\n {4}\}/g)
    ?.filter((place) => /proxy_pass .*(?:authserve|:3000|\$upstream_app)/.test(place));
  assert.ok(places?.length === 1, "one place");
  const set = [...(places[0] as string).matchAll(/^ *proxy_set_header (\S+) (\S+);$/gm)];
  // What the client sent must not become a part of what is set.
  const isBelieved = (name = "") => BELIEVED_HEADERS.some((header) => header === name.toLowerCase());
  assert.deepEqual(
    set.filter(([, name, value]) => isBelieved(name) && /\$(?:proxy_add_|http_(?!host))/.test(String(value))),
    [],
  );
  if (/^ *proxy_pass_request_headers off;$/m.test(String(places[0]))) return () => true;
  const names = set.map(([, name]) => name?.toLowerCase());
  return (header) => names.includes(header);
};

/** Caddy's pattern of names: `*` at one end or at both. */
const asPattern = (name: string) => new RegExp(`^${name.replaceAll("*", ".*")}$`, "i");

const caddy: Handled = (text) => {
  const removed = [...text.matchAll(/^\s*(?:header_up|request_header) -(\S+)$/gm)].map(([, name]) =>
    asPattern(String(name)),
  );
  const set = [...text.matchAll(/^\s*header_up (X-\S+) \{(?:method|uri)\}$/gm)].map(([, name]) => name?.toLowerCase());
  const own = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", ...set];
  return (header) => own.includes(header) || removed.some((pattern) => pattern.test(header));
};

const haproxy: Handled = (text) => {
  const removed = [...text.matchAll(/^ *http-request del-header (\S+) -m reg$/gm)].map(
    ([, form]) => new RegExp(String(form)),
  );
  return (header) => removed.some((form) => form.test(header));
};

/** What Traefik sets for every service. */
const OF_TRAEFIK = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip"];

const traefik: Handled = (text) => {
  const { routers, middlewares } = parse(text).http;
  assert.equal(routers.authserve.middlewares[0], "client-headers");
  const removed = Object.keys(middlewares["client-headers"].headers.customRequestHeaders);
  const names = [...removed.map((name) => name.toLowerCase()), ...OF_TRAEFIK];
  const asked: string[] = middlewares.authserve.forwardAuth.authRequestHeaders;
  return (header) => names.includes(header) && !asked.some((name) => name.toLowerCase() === header);
};

/**
 * What Traefik removes before an app, in any spelling that apps take for the same, see
 * https://github.com/traefik/traefik/security/advisories/GHSA-x677-9fxg-v5c5.
 */
const traefikApp: Handled = (text) => {
  const { authResponseHeadersRegex: form } = parse(text).http.middlewares.authserve.forwardAuth;
  const removed = new RegExp(form.replace(/^\(\?i\)/, ""), "i");
  assert.ok(!OF_TRAEFIK.some((header) => removed.test(header)));
  const spellings = (header: string) => [header.replaceAll("-", "_"), header.replaceAll("-", ".")];
  return (header) =>
    spellings(header).every((one) => removed.test(one)) && (OF_TRAEFIK.includes(header) || removed.test(header));
};

const ingressNginx: Handled = (text) => {
  const { annotations } = parse(text).metadata;
  const set: string[] = annotations["nginx.ingress.kubernetes.io/auth-response-headers"].split(", ");
  const names = set.map((name) => name.toLowerCase());
  // By nginx.tmpl it sets these for every service. One that is set twice reaches the app twice.
  const own = ["x-real-ip", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"];
  assert.deepEqual(
    names.filter((name, at) => own.includes(name) || names.indexOf(name) !== at),
    [],
  );
  return (header) => own.includes(header) || names.includes(header);
};

const envoyGateway: Handled = (text) => {
  const policies = parseAllDocuments(text).map((document) => document.toJS());
  const { headers } = policies.find(({ kind }) => kind === "ClientTrafficPolicy").spec;
  assert.equal(headers.withUnderscoresAction, "RejectRequest");
  // Envoy compares the whole name.
  const removed = headers.earlyRequestHeaders.removeOnMatch.map(
    ({ value }: { value: string }) => new RegExp(`^(?:${value})$`),
  );
  return (header) => removed.some((form: RegExp) => form.test(header));
};

/** What nginx sets for the requests to an app. */
const nginxApp: Handled = (text) => {
  const set = [...text.matchAll(/^ {4}proxy_set_header (\S+) (?:""|\$(?!http_|proxy_add_)\S+);$/gm)];
  const names = set.map(([, name]) => name?.toLowerCase());
  return (header) => names.includes(header);
};

const FILES: Record<string, Handled> = {
  "nginx.conf": nginx,
  "nginx-app.conf": nginx,
  "cluster/nginx.conf": nginx,
  "swag/authserve.subdomain.conf.sample": nginx,
  Caddyfile: caddy,
  "Caddyfile.app": caddy,
  "Caddyfile.compose": caddy,
  "haproxy-app.cfg": haproxy,
  "cluster/haproxy.cfg": haproxy,
  "cluster/haproxy-compose.cfg": haproxy,
  "traefik-app.yaml": traefik,
};

suite("each header that is believed of a proxy is set or removed", () => {
  for (const [file, handled] of Object.entries(FILES)) {
    test(`by deploy/${file}`, () => {
      const isHandled = handled(read(file));
      assert.deepEqual(
        BELIEVED_HEADERS.filter((header) => !isHandled(header)),
        [],
      );
    });
  }

  test("by every file of a proxy in deploy/", () => {
    const files = readdirSync(join(ROOT, "deploy"), { recursive: true, encoding: "utf8" });
    // What is in the folder nginx are parts of nginx-app.conf. PROXY makes the difference for those of Kubernetes.
    const ofProxies = files.filter((file) =>
      /^(?!(?:nginx|kubernetes)(?:\/|$)).*(?:Caddyfile|nginx|haproxy.*\.cfg$|traefik-|sample$)/.test(file),
    );
    assert.deepEqual(ofProxies.sort(), Object.keys(FILES).sort());
  });
});

suite("each header that an app may believe is set or removed", () => {
  const files: Record<string, Handled> = {
    "nginx-app.conf": nginxApp,
    "Caddyfile.app": caddy,
    "haproxy-app.cfg": haproxy,
    "traefik-app.yaml": traefikApp,
    "kubernetes/ingress-nginx.yaml": ingressNginx,
    "kubernetes/envoy-gateway.yaml": envoyGateway,
  };
  for (const [file, handled] of Object.entries(files)) {
    test(`by deploy/${file}`, () => {
      const isHandled = handled(read(file));
      const names = [
        ...BELIEVED_HEADERS,
        "Remote-User",
        "Remote-Credential",
        ...Object.values(IDENTITY_HEADERS).flat(),
      ];
      assert.deepEqual(
        names.filter((name) => !isHandled(name.toLowerCase())),
        [],
      );
    });
  }
});

test("no other header is believed of a proxy", () => {
  const src = join(ROOT, "src");
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
  const named = files.flatMap((file) =>
    [...readFileSync(join(src, file), "utf8").matchAll(/["`](x-(?:forwarded|original)-[a-z-]+)["`]/g)].map(
      ([, name]) => name,
    ),
  );
  assert.deepEqual([...new Set(named)].sort(), [...BELIEVED_HEADERS]);
});
