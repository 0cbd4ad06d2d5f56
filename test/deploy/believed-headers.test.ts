import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { parse } from "yaml";
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
    ?.filter((place) => /proxy_pass .*(?:authserve|:3000)/.test(place));
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

const traefik: Handled = (text) => {
  const { http } = parse(text);
  for (const name of ["authserve", "app", "app-websocket"])
    assert.equal(http.routers[name].middlewares[0], "client-headers");
  const removed = Object.keys(http.middlewares["client-headers"].headers.customRequestHeaders);
  const names = [
    ...removed.map((name) => name.toLowerCase()),
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-real-ip",
  ];
  return (header) => names.includes(header);
};

/** What nginx sets for the requests to an app. */
const nginxApp: Handled = (text) => {
  const set = [...text.matchAll(/^ {4}proxy_set_header (\S+) (?:""|\$remote_addr);$/gm)];
  const names = set.map(([, name]) => name?.toLowerCase());
  return (header) => names.includes(header);
};

const FILES: Record<string, Handled> = {
  "nginx.conf": nginx,
  "nginx-app.conf": nginx,
  "cluster/nginx.conf": nginx,
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
    // What is in the folder nginx are parts of nginx-app.conf.
    const ofProxies = files.filter((file) =>
      /^(?!nginx(?:\/|$)).*(?:Caddyfile|nginx|haproxy.*\.cfg$|traefik)/.test(file),
    );
    assert.deepEqual(ofProxies.sort(), Object.keys(FILES).sort());
  });
});

suite("each header by which other products name the user or the client is set or removed", () => {
  const files: Record<string, Handled> = {
    "nginx-app.conf": nginxApp,
    "Caddyfile.app": caddy,
    "haproxy-app.cfg": haproxy,
    "traefik-app.yaml": traefik,
  };
  for (const [file, handled] of Object.entries(files)) {
    test(`by deploy/${file}`, () => {
      const isHandled = handled(read(file));
      const names: string[] = Object.values(IDENTITY_HEADERS).flat();
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
