import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startProgram } from "./command.ts";
import { changed, nginxConfiguration } from "./deployed-files.ts";
import { freePort } from "./ports.ts";
import { pairNamed, shownName } from "./tls.ts";
import { HANG_MS, isWell, until } from "./until.ts";
import { workingDir } from "./working-dir.ts";

const DEPLOY = join(import.meta.dirname, "../../deploy");

/** Changes a configuration before its addresses are set, as a reader of the docs would. */
export type Edit = (text: string) => string;

/** Where a proxy listens, and what it passes requests to. */
interface Place {
  dir: string;
  httpsPort: number;
  httpPort: number;
  authservePort: number;
  appPort: number;
  edit: Edit;
}

/** What starts a proxy: a program, its arguments, and its environment. It writes its files to the directory. */
type Preparation = (place: Place) => { program: string; args: string[]; env?: Record<string, string> };

const { cert, key } = pairNamed("first");

/** A file of `deploy/` with other addresses. Throws if it lacks a text to replace. */
function deployed(file: string, changes: readonly (readonly [string | RegExp, string])[], edit?: Edit): string {
  const text = readFileSync(join(DEPLOY, file), "utf8");
  return changed(edit ? edit(text) : text, changes);
}

/** The lines of a file of `deploy/` that are for the domain of the cookie, which has a server of its own. */
const linesOfDomain = (text: string) =>
  text
    .match(/^#(?:\t| {4}).*$/gm)
    ?.map((line) => line.slice(1))
    .join("\n") ?? "";

const nginx: Preparation = ({ dir, httpsPort, httpPort, authservePort, appPort, edit }) => {
  const listen = [
    [/^ *listen \[::\].*\n/gm, ""],
    [/\blisten 443 /g, `listen 127.0.0.1:${httpsPort} `],
    [/ssl_certificate .*;/g, `ssl_certificate ${cert};`],
    [/ssl_certificate_key .*;/g, `ssl_certificate_key ${key};`],
    ["127.0.0.1:3000", `127.0.0.1:${authservePort}`],
  ] as const;
  const http = ["listen 80;", `listen 127.0.0.1:${httpPort};`] as const;
  const own = deployed("nginx.conf", [...listen, http]);
  const app = deployed("nginx-app.conf", [...listen, http, ["127.0.0.1:8080", `127.0.0.1:${appPort}`]], edit);
  const domain = `server {\nlisten 127.0.0.1:${httpsPort} ssl;\nserver_name example.com;\nssl_certificate ${cert};
ssl_certificate_key ${key};\n${linesOfDomain(own)}\n}\n`;
  const file = join(dir, "nginx.conf");
  writeFileSync(file, nginxConfiguration(dir, `${own}\n${domain}${app}`));
  return { program: "nginx", args: ["-p", dir, "-e", "stderr", "-c", file] };
};

const caddy: Preparation = ({ dir, httpsPort, httpPort, authservePort, appPort, edit }) => {
  const options = `admin off\nhttps_port ${httpsPort}\nhttp_port ${httpPort}\nauto_https off\ndefault_bind 127.0.0.1`;
  const tls = `{\n\ttls ${cert} ${key}\n`;
  const authserve = ["127.0.0.1:3000", `127.0.0.1:${authservePort}`] as const;
  const own = deployed("Caddyfile", [[/(?<=^auth\.example\.com )\{\n/gm, tls], authserve]);
  const changes = [
    [/(?<=^app\.example\.com )\{\n/gm, tls],
    authserve,
    ["127.0.0.1:8080", `127.0.0.1:${appPort}`],
  ] as const;
  const app = deployed("Caddyfile.app", changes, edit);
  const file = join(dir, "Caddyfile");
  const domain = `example.com ${tls}${linesOfDomain(own)}\n}\n`;
  writeFileSync(file, `{\n${options}\n}\n${own}\n${domain}${app}`);
  const env = { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir };
  return { program: "caddy", args: ["run", "--config", file, "--adapter", "caddyfile"], env };
};

const haproxy: Preparation = ({ dir, httpsPort, httpPort, authservePort, appPort, edit }) => {
  const pem = join(dir, "pair.pem");
  writeFileSync(pem, readFileSync(cert, "utf8") + readFileSync(key, "utf8"));
  // On a machine that stalls, authserve may not answer within the time of the file.
  const script = join(dir, "haproxy-authserve.lua");
  writeFileSync(
    script,
    deployed("haproxy-authserve.lua", [[/^local TIMEOUT_MS = .*$/gm, `local TIMEOUT_MS = ${HANG_MS}`]]),
  );
  const file = join(dir, "haproxy.cfg");
  const changes = [
    [/^ *(?:user|group) haproxy\n/gm, ""],
    ["/etc/haproxy/haproxy-authserve.lua", script],
    [/^ *bind :::.*\n/gm, ""],
    ["bind :80\n", `bind 127.0.0.1:${httpPort}\n`],
    [/bind (?<quic>quic4@)?:443 /g, `bind $<quic>127.0.0.1:${httpsPort} `],
    ["/etc/haproxy/certs/", pem],
    ["127.0.0.1:3000", `127.0.0.1:${authservePort}`],
    ["127.0.0.1:8080", `127.0.0.1:${appPort}`],
  ] as const;
  writeFileSync(file, deployed("haproxy-app.cfg", changes, edit));
  return { program: "haproxy", args: ["-f", file] };
};

const PREPARATIONS = { nginx, caddy, haproxy };

export type ProxyName = keyof typeof PREPARATIONS;

export interface ProxyProcess {
  /** For HTTPS, on 127.0.0.1. */
  port: number;
  httpPort: number;
  output(): string;
  [Symbol.asyncDispose](): Promise<void>;
}

const START_TRIES = 3;

/**
 * Starts a proxy with its files of `deploy/`, for `auth.example.com` and `app.example.com`. `edit` changes that of the
 * app.
 */
export async function startProxy(
  name: ProxyName,
  ports: { authservePort: number; appPort: number },
  edit: Edit = (text) => text,
): Promise<ProxyProcess> {
  for (let left = START_TRIES; ; left--) {
    const [httpsPort, httpPort] = [await freePort(), await freePort()];
    const dir = workingDir();
    const { program, args, env = {} } = PREPARATIONS[name]({ dir, httpsPort, httpPort, edit, ...ports });
    const { child, exited, stdout, stderr } = startProgram(program, args, { dir, env });
    const output = () => stdout() + stderr();
    let ended = false;
    void exited.then(() => {
      ended = true;
    });
    // A connection to a port where nobody listens fails at once.
    await until(async () => ended || isWell(() => shownName(httpsPort, { servername: "app.example.com" })));
    if (!ended) {
      return {
        port: httpsPort,
        httpPort,
        output,
        async [Symbol.asyncDispose]() {
          child.kill("SIGKILL");
          await exited;
        },
      };
    }
    // Another process may have taken the port since it was found.
    if (left === 1) throw new Error(`${program} did not start: ${output()}`);
  }
}
