import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { EXECUTABLE } from "./command.ts";

/**
 * Options for tests of a back end that may be missing on this machine. Without it they are skipped, with its name as
 * the reason. With `REQUIRE_BACKENDS=1` they fail instead, so that no test passes without having run.
 */
export function needs(backEnd: string, isThere: () => boolean, remedy: string): { skip: string | false } {
  if (isThere()) return { skip: false };
  const message = `${backEnd} did not run: ${remedy}`;
  if (process.env.REQUIRE_BACKENDS === "1") throw new Error(message);
  return { skip: message };
}

/** The options of tests that need several back ends: those of the first one that is missing. */
export function needsAll(...needed: { skip: string | false }[]): { skip: string | false } {
  return needed.find(({ skip }) => skip !== false) ?? { skip: false };
}

/** Where Debian's package puts the browser. */
export const CHROMIUM = "/usr/bin/chromium";

/** Where Debian's packages put the modules of Apache. */
export const APACHE_MODULES = "/usr/lib/apache2/modules";

/** Whether there is a program. With the argument it ends by itself. */
export const hasProgram = (name: string, argument = "--version") =>
  spawnSync(name, [argument], { stdio: "ignore" }).error === undefined;

export const needsRedis = () =>
  needs(
    "Redis",
    () => hasProgram("redis-server"),
    "redis-server is not on the path (Debian: apt-get install redis-server)",
  );

export const needsNginx = () =>
  needs("nginx", () => hasProgram("nginx"), "nginx is not on the path (Debian: apt-get install nginx-light)");

export const needsCaddy = () =>
  needs("Caddy", () => hasProgram("caddy"), "caddy is not on the path (Debian: apt-get install caddy)");

export const needsHaproxy = () =>
  needs("HAProxy", () => hasProgram("haproxy"), "haproxy is not on the path (Debian: apt-get install haproxy)");

export const needsApache = () =>
  needs(
    "Apache with mod_auth_openidc",
    () => hasProgram("apache2", "-v") && existsSync(join(APACHE_MODULES, "mod_auth_openidc.so")),
    "it is not there (Debian: apt-get install apache2-bin libapache2-mod-auth-openidc)",
  );

export const needsGpg = () =>
  needs("signed releases", () => hasProgram("gpg"), "gpg is not on the path (Debian: apt-get install gnupg)");

export const needsPython = () =>
  needs("Python", () => hasProgram("python3"), "python3 is not on the path (Debian: apt-get install python3)");

export const needsGo = () =>
  needs("Go", () => hasProgram("go"), "go is not on the path (Debian: apt-get install golang-go)");

export const needsMinisign = () =>
  needs(
    "signed checksums",
    () => hasProgram("minisign"),
    "minisign is not on the path (Debian: apt-get install minisign)",
  );

export const needsStrace = () =>
  needs(
    "the disk faults",
    () => spawnSync("strace", ["-f", "-e", "trace=none", "true"], { stdio: "ignore" }).status === 0,
    "strace is not on the path, or may trace nothing here (Debian: apt-get install strace)",
  );

const canMount = () =>
  spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" }).status === 0;

export const needsMount = () => needs("the full disk", canMount, "mounting a small disk needs root");

export const needsSilentDns = () => needs("the hanging DNS query", canMount, "mounting a resolv.conf needs root");

export const NOBODY = 65_534;

export const needsOtherUser = () =>
  needs(
    "the server as another user",
    () => process.getuid?.() !== 0 || spawnSync("test", ["-x", EXECUTABLE], { uid: NOBODY, gid: NOBODY }).status === 0,
    "the checkout lies in a folder that only root can read",
  );

export const needsFreeze = () =>
  needs(
    "the stalled disk",
    () => process.getuid?.() === 0 && spawnSync("losetup", ["--find"], { stdio: "ignore" }).status === 0,
    "freezing a loop-mounted disk needs root and loop devices",
  );

export const needsChromium = () =>
  needs(
    "the pages in a browser",
    () => hasProgram(CHROMIUM),
    `${CHROMIUM} is not there (Debian: apt-get install chromium)`,
  );

export const needsPgbouncer = () =>
  needs("pgbouncer", () => hasProgram("pgbouncer"), "pgbouncer is not on the path (Debian: apt-get install pgbouncer)");

/** The folder of PostgreSQL's programs: one on the path, else Debian's newest; undefined if it is not installed. */
export function postgresBin(): string | undefined {
  const packages = "/usr/lib/postgresql";
  const versions = existsSync(packages) ? readdirSync(packages).sort((a, b) => Number(b) - Number(a)) : [];
  const dirs = [...(process.env.PATH ?? "").split(delimiter), ...versions.map((name) => join(packages, name, "bin"))];
  const found = dirs.find((dir) => existsSync(join(dir, "initdb")));
  // The path may have links to some of the programs only.
  return found && dirname(realpathSync(join(found, "initdb")));
}

export const needsPostgres = () =>
  needs(
    "PostgreSQL",
    () => postgresBin() !== undefined,
    "initdb is not on the path or in /usr/lib/postgresql (Debian: apt-get install postgresql)",
  );
