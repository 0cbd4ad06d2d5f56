import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { needsNginx } from "../helpers/back-end.ts";
import { changed } from "../helpers/deployed-files.ts";
import {
  APP,
  COOKIE,
  echoOf,
  GENUINE,
  loggedIn,
  logInOn,
  PROXIES,
  startSite,
  userHeaders,
} from "../helpers/protected-app.ts";
import type { Edit, ProxyName } from "../helpers/proxy.ts";
import { until } from "../helpers/until.ts";
import { Visitor } from "../helpers/visitor.ts";
import { workingDir } from "../helpers/working-dir.ts";

const LISTEN = `listen 80;
listen [::]:80;
listen 443 ssl;
listen [::]:443 ssl;
server_name app.example.com;
ssl_certificate /x.crt;
ssl_certificate_key /x.key;`;

/** The client names itself, and what it asks for, in these. */
const FORGED = [
  ...["Remote-User", "mallory", "remote-email", "m@example.com", "X-Forwarded-User", "mallory"],
  ...["Remote-Name", "mallory", "Remote-Groups", "mallory"],
  ...["X-Original-URL", "https://open.example.com/", "X-Forwarded-Uri", "/open", "X-Forwarded-Method", "OPTIONS"],
];

const annotations: Record<string, string> = parse(
  readFileSync(join(import.meta.dirname, "../../deploy/kubernetes/ingress-nginx.yaml"), "utf8"),
).metadata.annotations;
const annotation = (name: string) => annotations[`nginx.ingress.kubernetes.io/${name}`] ?? "";

/**
 * The locations that ingress-nginx 1.15 writes for the annotations (rootfs/etc/nginx/template/nginx.tmpl). nginx itself
 * cannot escape the address to lead back to.
 */
const ingress: Edit = () => `
server {
  ${LISTEN}
  client_max_body_size ${annotation("proxy-body-size")};
  large_client_header_buffers 4 32k;
  proxy_buffer_size ${annotation("proxy-buffer-size")};
  proxy_buffers 4 ${annotation("proxy-buffer-size")};
  proxy_headers_hash_max_size 1024;
  location = /_external-auth {
    internal;
    proxy_pass_request_body off;
    proxy_set_header Content-Length "";
    proxy_set_header X-Forwarded-Proto "";
    proxy_set_header Host ${new URL(annotation("auth-url")).hostname};
    proxy_set_header X-Original-URL $scheme://$http_host$request_uri;
    proxy_set_header X-Original-Method $request_method;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Auth-Request-Redirect $request_uri;
    proxy_pass_request_headers on;
    proxy_pass http://127.0.0.1:3000${new URL(annotation("auth-url")).pathname};
  }
  location @signin {
    internal;
    add_header Set-Cookie $auth_cookie;
    return 302 ${annotation("auth-signin")}?rd=$scheme://$http_host$request_uri;
  }
  location / {
    auth_request /_external-auth;
    auth_request_set $auth_cookie $upstream_http_set_cookie;
    add_header Set-Cookie $auth_cookie always;
    ${annotation("auth-response-headers")
      .split(", ")
      .map((name, at) => {
        const variable = `$upstream_http_${name.toLowerCase().replaceAll("-", "_")}`;
        return `auth_request_set $authHeader${at} ${variable};\nproxy_set_header '${name}' $authHeader${at};`;
      })
      .join("\n")}
    error_page 401 = @signin;
    proxy_request_buffering ${annotation("proxy-request-buffering")};
    proxy_http_version 1.1;
    proxy_set_header Host $host;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Host $host;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_pass http://127.0.0.1:8080;
  }
}`;

test("behind ingress-nginx no client names the user, and a body arrives whole", needsNginx(), async () => {
  await using site = await startSite("nginx", { PROXY: "nginx" }, ingress);
  const visitor = await loggedIn(site);
  const body = "x".repeat(3_000_000);
  const echo = echoOf(await visitor.request(`${APP}/`, { method: "POST", lines: FORGED, body }));
  assert.deepEqual([userHeaders(echo), echo.bodyBytes], [GENUINE, body.length]);
  assert.doesNotMatch(JSON.stringify(echo.headers), /mallory|open/);
});

/** nginx with one fixed address to log in at. */
const fixedAddress: Edit = (text) =>
  changed(text, [
    ["error_page 401 = @login;", "error_page 401 =302 https://auth.example.com/login?rd=$scheme://$host$request_uri;"],
  ]);

// https://github.com/oauth2-proxy/oauth2-proxy/issues/707, https://github.com/goauthentik/authentik/issues/6883,
// https://github.com/tinyauthapp/tinyauth/issues/1023
for (const [name, edit] of [
  ["ingress-nginx", ingress],
  ["nginx with a fixed address", fixedAddress],
] as const)
  test(`behind ${name}, pages open while the session lives`, needsNginx(), async () => {
    const env = { JWT_TTL: "9s", SESSION_MAX_AGE: "1h", PROXY: "nginx" };
    await using site = await startSite("nginx", env, edit);
    const visitor = await loggedIn(site);
    const first = visitor.cookies.get(COOKIE)?.value;
    // Each page is opened as by hand: without a loop, and without another login. In time one is renewed.
    await until(async () => {
      const visit = await visitor.open(`${APP}/a`, { lines: ["X-Forwarded-Uri", "/open"] });
      assert.deepEqual([visit.status, visit.url], [200, `${APP}/a`]);
      return visitor.cookies.get(COOKIE)?.value !== first;
    });
    assert.equal((await visitor.open(`${APP}/b`)).url, `${APP}/b`);
  });

// A question over a public name meets the proxy of that host, which by itself would name its own request.
test("a proxy on another machine can ask over a public name with the location of the page", needsNginx(), async () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/protect-an-app.md"), "utf8");
  const [, location = ""] = /^```nginx\n(location = \/auth\/verify \{[\s\S]*?)```$/m.exec(page) ?? [];
  const edit: Edit = (text) => `${changed(text, [
    [
      "proxy_pass http://127.0.0.1:3000/auth/verify;",
      "proxy_pass https://127.0.0.1:$server_port/auth/verify; proxy_ssl_server_name on; proxy_ssl_name verify.example.com;\nproxy_set_header Host verify.example.com;",
    ],
  ])}
server {
  ${LISTEN.replace("app.example.com", "verify.example.com")}
  ${changed(location, [["192.0.2.7", "127.0.0.1"]])}
}`;
  await using site = await startSite("nginx", { ACCESS_LOG: "on" }, edit);
  const visitor = new Visitor(site.proxy.port);
  const visit = await logInOn(await visitor.open(`${APP}/a?b=c`, { lines: FORGED }), visitor);
  assert.deepEqual([visit.url, userHeaders(echoOf(visit))], [`${APP}/a?b=c`, GENUINE]);
});

const TAILSCALE = "tailscale-control-protocol";

/** The changes of docs/apps.md for another protocol than websockets. */
const EDITS: Record<ProxyName, Edit> = {
  nginx: (text) =>
    changed(text, [
      ["    websocket websocket;\n", `    websocket websocket;\n    ${TAILSCALE} ${TAILSCALE};\n`],
      ["    websocket upgrade;\n", `    websocket upgrade;\n    ${TAILSCALE} upgrade;\n`],
    ]),
  caddy: (text) =>
    changed(text, [
      [
        "@other not header_regexp Upgrade (?i)^websocket$",
        `@other not header_regexp Upgrade (?i)^(websocket|${TAILSCALE})$$\n\t@tailscale header_regexp Upgrade (?i)^${TAILSCALE}$$`,
      ],
      ["Upgrade websocket\n", `Upgrade websocket\n\t\trequest_header @tailscale Upgrade ${TAILSCALE}\n`],
    ]),
  haproxy: (text) =>
    changed(text, [
      ["-i websocket\n", `-i websocket\n    acl is_tailscale req.fhdr(Upgrade) -m str -i ${TAILSCALE}\n`],
      ["unless is_websocket\n", "unless is_websocket or is_tailscale\n"],
      [
        "websocket if is_websocket\n",
        `websocket if is_websocket\n    http-request set-header Upgrade ${TAILSCALE} if is_tailscale !is_websocket\n`,
      ],
    ]),
};

// https://headscale.net/stable/ref/integration/reverse-proxy/: its clients upgrade to a protocol of their own.
for (const [name, needsProxy] of PROXIES)
  test(`clients of headscale reach it behind ${name}, and no other protocol`, needsProxy(), async () => {
    const file = join(workingDir(), "authserve.yaml");
    writeFileSync(file, "access:\n  - { host: app.example.com, path: /ts2021, allow: everyone }\n");
    await using site = await startSite(name, { CONFIG_FILE: file }, EDITS[name]);
    const client = new Visitor(site.proxy.port);
    const { status, socket } = await client.upgrade(`${APP}/ts2021`, [TAILSCALE]);
    assert.equal(status, 101);
    socket?.destroy();
    assert.equal((await client.upgrade(`${APP}/ts2021`, ["h2c"])).status, 200);
    // Of several protocols the app gets one, or none.
    (await client.upgrade(`${APP}/ts2021`, [TAILSCALE, "h2c"])).socket?.destroy();
    const sent = site.app.received.flatMap(({ headers }) => headers.filter(([header]) => /^upgrade$/i.test(header)));
    assert.deepEqual([...new Set(sent.map(([, value]) => value))], [TAILSCALE]);
    assert.notEqual((await client.upgrade(`${APP}/admin`, [TAILSCALE])).status, 101);
    const live = await (await loggedIn(site)).upgrade(`${APP}/live`);
    assert.equal(live.status, 101);
    live.socket?.destroy();
  });
