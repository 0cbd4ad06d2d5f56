import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pairNamed } from "./tls.ts";

const ROOT = join(import.meta.dirname, "../..");
const { cert, key } = pairNamed("first");
const PAIR = [readFileSync(cert, "utf8"), readFileSync(key, "utf8")] as const;

const shipped = (file: string) => readFileSync(join(ROOT, "deploy", file), "utf8");

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A proxy with the files of `deploy/` as they are, at the places that the files or the documentation name. */
interface ShippedProxy {
  /**
   * Writes its files. The other hosts of a proxy also run before an app is protected, see
   * https://github.com/goauthentik/authentik/issues/11453.
   */
  install(): void;
  program: string;
  args: string[];
  /** The address of authserve. */
  auth: string;
  /** Settings of authserve. */
  env?: Record<string, string>;
}

const AUTH = "https://auth.example.com";

const nginx: ShippedProxy = {
  install() {
    put("/etc/nginx/conf.d/authserve.conf", shipped("nginx.conf"));
    put("/etc/nginx/conf.d/app.conf", shipped("nginx-app.conf"));
    for (const host of ["auth", "app"]) {
      put(`/etc/letsencrypt/live/${host}.example.com/fullchain.pem`, PAIR[0]);
      put(`/etc/letsencrypt/live/${host}.example.com/privkey.pem`, PAIR[1]);
    }
  },
  program: "nginx",
  args: ["-g", "daemon off;"],
  auth: AUTH,
};

/** The options are what a machine without internet needs for certificates. */
const caddy: ShippedProxy = {
  install() {
    const options = "{\n\tlocal_certs\n\tskip_install_trust\n}\n";
    put("/etc/caddy/Caddyfile", `${options}${shipped("Caddyfile")}\n${shipped("Caddyfile.app")}`);
  },
  program: "caddy",
  args: ["run", "--config", "/etc/caddy/Caddyfile"],
  auth: AUTH,
};

const haproxy: ShippedProxy = {
  install() {
    put("/etc/haproxy/haproxy.cfg", shipped("haproxy-app.cfg"));
    put("/etc/haproxy/haproxy-authserve.lua", shipped("haproxy-authserve.lua"));
    put("/etc/haproxy/certs/example.com.pem", PAIR.join(""));
  },
  program: "haproxy",
  args: ["-f", "/etc/haproxy/haproxy.cfg"],
  auth: AUTH,
};

/** The parts of a main configuration that do not matter to authserve. */
const nginxWith = (http: string) => `user www-data;
error_log stderr;
pid /run/nginx.pid;
events {}
http {
access_log off;
${http}
}
`;

/**
 * SWAG's own files, without what needs nginx 1.25.1: the main one is of linuxserver/docker-baseimage-alpine-nginx
 * (root/defaults/nginx/nginx.conf.sample), proxy.conf of linuxserver/docker-swag (root/defaults/nginx), and the host of
 * the app is _template.subdomain.conf.sample of linuxserver/reverse-proxy-confs with our two lines.
 */
const swag: ShippedProxy = {
  install() {
    put("/config/nginx/authserve-server.conf", shipped("swag/authserve-server.conf"));
    put("/config/nginx/authserve-location.conf", shipped("nginx/authserve-location.conf"));
    put("/config/nginx/authserve-maps.conf", shipped("nginx/authserve-maps.conf"));
    put("/config/nginx/proxy-confs/authserve.subdomain.conf", shipped("swag/authserve.subdomain.conf.sample"));
    // Docker's name server. SWAG writes it at its first start.
    put("/config/nginx/resolver.conf", "resolver 127.0.0.11 valid=30s;\n");
    put("/config/keys/cert.crt", PAIR[0]);
    put("/config/keys/cert.key", PAIR[1]);
    put(
      "/config/nginx/ssl.conf",
      'ssl_certificate /config/keys/cert.crt;\nssl_certificate_key /config/keys/cert.key;\nadd_header Strict-Transport-Security "max-age=63072000" always;\n',
    );
    const headers = {
      Connection: "$connection_upgrade",
      "Early-Data": "$ssl_early_data",
      Host: "$host",
      Proxy: '""',
      Upgrade: "$http_upgrade",
      "X-Forwarded-For": "$proxy_add_x_forwarded_for",
      "X-Forwarded-Host": "$host",
      "X-Forwarded-Method": "$request_method",
      "X-Forwarded-Port": "$server_port",
      "X-Forwarded-Proto": "$scheme",
      "X-Forwarded-Server": "$host",
      "X-Forwarded-Ssl": "on",
      "X-Forwarded-Uri": "$request_uri",
      "X-Original-Method": "$request_method",
      "X-Original-URL": "$scheme://$http_host$request_uri",
      "X-Real-IP": "$remote_addr",
    };
    put(
      "/config/nginx/proxy.conf",
      `proxy_next_upstream error timeout invalid_header http_500 http_502 http_503;
proxy_buffers 32 4k;
proxy_headers_hash_bucket_size 128;
proxy_headers_hash_max_size 1024;
proxy_http_version 1.1;
proxy_redirect http:// $scheme://;
proxy_cache_bypass $cookie_session;
proxy_no_cache $cookie_session;
${Object.entries(headers)
  .map(([name, value]) => `proxy_set_header ${name} ${value};\n`)
  .join("")}`,
    );
    put(
      "/etc/nginx/nginx.conf",
      nginxWith(`include /config/nginx/resolver.conf;
client_max_body_size 0;
map $http_upgrade $connection_upgrade { default upgrade; '' close; }
server {
    listen 80 default_server;
    location / { return 301 https://$host$request_uri; }
}
include /config/nginx/proxy-confs/*.subdomain.conf;`),
    );
    execFileSync("nginx", ["-t"], { stdio: "pipe" });
    put(
      "/config/nginx/proxy-confs/app.subdomain.conf",
      `server {
    listen 443 ssl;
    listen [::]:443 ssl;
    server_name app.*;
    include /config/nginx/ssl.conf;
    client_max_body_size 0;
    include /config/nginx/authserve-server.conf;
    location / {
        include /config/nginx/authserve-location.conf;
        include /config/nginx/proxy.conf;
        include /config/nginx/resolver.conf;
        set $upstream_app whoami;
        set $upstream_port 8080;
        set $upstream_proto http;
        proxy_pass $upstream_proto://$upstream_app:$upstream_port;
    }
}
`,
    );
  },
  program: "nginx",
  args: ["-g", "daemon off;"],
  auth: "https://authserve.example.com",
  env: { PROXY: "nginx" },
};

/**
 * A host of Nginx Proxy Manager with a certificate and all switches on but *Cache Assets* and *Block Common Exploits*:
 * what backend/templates/proxy_host.conf of NginxProxyManager/nginx-proxy-manager becomes.
 */
const managedHost = (name: string, port: number, advanced: string, defaultLocation: string) => `
map $scheme $hsts_header { https "max-age=63072000; preload"; }
server {
  set $forward_scheme http;
  set $server "127.0.0.1";
  set $port ${port};
  listen 80;
  listen [::]:80;
  listen 443 ssl;
  listen [::]:443 ssl;
  server_name ${name};
  ssl_certificate /data/custom_ssl/npm-1/fullchain.pem;
  ssl_certificate_key /data/custom_ssl/npm-1/privkey.pem;
  add_header Strict-Transport-Security $hsts_header always;
  if ($scheme = "http") { return 301 https://$host$request_uri; }
  proxy_set_header Upgrade $http_upgrade;
  proxy_set_header Connection $http_connection;
  proxy_http_version 1.1;
${advanced}
${defaultLocation}
}
`;

/** That of a host whose field has no `location /`, with conf.d/include/proxy.conf. */
const DEFAULT_LOCATION = `  location / {
    add_header Strict-Transport-Security $hsts_header always;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $http_connection;
    proxy_http_version 1.1;
    add_header X-Served-By $host;
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-Scheme $x_forwarded_scheme;
    proxy_set_header X-Forwarded-Proto $x_forwarded_proto;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_pass $forward_scheme://$server:$port$request_uri;
  }`;

/** A block of the documentation. */
function documented(beginning: string): string {
  const page = readFileSync(join(ROOT, "docs/protect-an-app.md"), "utf8");
  const start = page.indexOf(`\n${beginning}`) + 1;
  if (start === 0) throw new Error(`there is no block ${beginning}`);
  return page.slice(start, page.indexOf("```", start));
}

/** Its main configuration has these lines in docker/rootfs/etc/nginx/nginx.conf. */
const manager: ShippedProxy = {
  install() {
    for (const name of ["server", "location", "proxy", "maps"])
      put(`/data/nginx/custom/authserve-${name}.conf`, shipped(`nginx/authserve-${name}.conf`));
    put("/data/nginx/custom/http_top.conf", documented("include /data/nginx/custom/authserve-maps.conf;"));
    put("/data/custom_ssl/npm-1/fullchain.pem", PAIR[0]);
    put("/data/custom_ssl/npm-1/privkey.pem", PAIR[1]);
    put("/data/nginx/proxy_host/1.conf", managedHost("auth.example.com", 3000, "", DEFAULT_LOCATION));
    put(
      "/etc/nginx/nginx.conf",
      nginxWith(`client_max_body_size 2000m;
server_names_hash_bucket_size 1024;
proxy_http_version 1.1;
proxy_set_header X-Forwarded-Scheme $scheme;
proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
proxy_set_header Accept-Encoding "";
map $host $forward_scheme { default http; }
map $http_x_forwarded_proto $x_forwarded_proto { "http" "http"; "https" "https"; default $scheme; }
map $http_x_forwarded_scheme $x_forwarded_scheme { "http" "http"; "https" "https"; default $scheme; }
set_real_ip_from 10.0.0.0/8;
real_ip_header X-Real-IP;
real_ip_recursive on;
include /data/nginx/custom/http_top[.]conf;
include /data/nginx/proxy_host/*.conf;`),
    );
    execFileSync("nginx", ["-t"], { stdio: "pipe" });
    const advanced = documented("include /data/nginx/custom/authserve-server.conf;");
    put("/data/nginx/proxy_host/2.conf", managedHost("app.example.com", 8080, advanced, ""));
  },
  program: "nginx",
  args: ["-g", "daemon off;"],
  auth: AUTH,
  env: { PROXY: "nginx" },
};

export const SHIPPED_PROXIES = { nginx, caddy, haproxy, SWAG: swag, "Nginx Proxy Manager": manager };
