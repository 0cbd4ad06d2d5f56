import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SECRET_NAMES } from "../../src/config/settings.ts";
import { runProgram } from "../helpers/command.ts";
import { workingDir } from "../helpers/working-dir.ts";

const script = readFileSync(join(import.meta.dirname, "../../deploy/service-authserve"), "utf8");

/** A directory with the service, for these settings. */
function serviceDir(settings: string | Buffer): string {
  const dir = workingDir();
  for (const folder of ["etc/authserve", "var/lib/authserve", "bin"]) mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, "etc/authserve/authserve.conf"), settings);
  for (const name of ["jwt_secret", "demo_password", "webhook_secret"]) {
    writeFileSync(join(dir, "etc/authserve", name), `of ${name}`);
  }
  return dir;
}

/** Runs `service-authserve`, which prints the environment of the command instead of running it. */
function runIn(dir: string, args: readonly string[], callers: Record<string, string> = {}) {
  // Replaces setpriv, which changes to the service's user.
  writeFileSync(join(dir, "bin/setpriv"), "#!/bin/sh\nexec env -0\n");
  chmodSync(join(dir, "bin/setpriv"), 0o755);
  writeFileSync(
    join(dir, "script"),
    script.replaceAll(/(?<= )\/(?:etc|var\/lib)\//g, (path) => dir + path),
  );
  return runProgram("sh", [join(dir, "script"), ...args], {
    dir,
    env: { ...callers, PATH: `${join(dir, "bin")}:${process.env.PATH}` },
  });
}

/** The environment that a command gets from these settings. */
async function environmentBy(
  settings: string | Buffer,
  callers: Record<string, string> = {},
): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await runIn(serviceDir(settings), ["events", "list"], callers);
  assert.deepEqual([code, stderr], [0, ""]);
  return Object.fromEntries(
    stdout
      .split("\0")
      .slice(0, -1)
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

// How systemd 252 reads the same lines.
const LINES: [what: string, lines: string | Buffer, value: string | undefined][] = [
  ["a plain value", "X=a=b", "a=b"],
  ["an apostrophe", "X=o'brien@example.com", "o'brien@example.com"],
  ["what a shell would run", `X="it's $(exit 9) 'x"`, "it's $(exit 9) 'x"],
  ["a comment that is not UTF-8", Buffer.from("# f\xfcr uns\nX=a", "latin1"), "a"],
  ["blanks around name and value", " \tX = a b \t", "a b"],
  ["an empty value", "X=\nPORT=1", ""],
  ["single quotes", `X='a "b" \\$c '`, 'a "b" \\$c '],
  ["double quotes", `X="a 'b' \\"c\\" \\$d \\e "`, `a 'b' "c" $d \\e `],
  ["quotes with blanks behind them", `X="a" \t`, "a"],
  ["quotes behind quotes", `X='a' "b"c`, "abc"],
  ["quotes within a value", `X=it's "so"`, `it's "so"`],
  ["a value in quotes over two lines", "X='a\nb'", "a\nb"],
  ["a backslash at the end of a line", "X=a \\\nb", "a b"],
  ["a backslash at the end of a line in double quotes", 'X="a\\\nb"', "ab"],
  ["a backslash before another character", "X=a\\b\\\\c", "ab\\c"],
  ["what would be a command to a shell", "X=$(touch owned); `touch owned` *", "$(touch owned); `touch owned` *"],
  ["line ends of Windows", "PORT=1\r\nX=a\r\n", "a"],
  ["a last line without an end", "PORT=1\nX=a", "a"],
  ["the later of two", "X=a\nX=b", "b"],
  ["comments with blanks before them", "  # X=a\n\t;X=b", undefined],
  ["a line without =", "X\nPORT=1", undefined],
  ["a name that is none", "export X=a\n1X=a", undefined],
];

for (const [what, lines, value] of LINES) {
  test(`service-authserve reads as systemd does: ${what}`, async () => {
    assert.equal((await environmentBy(lines)).X, value);
  });
}

test("service-authserve's settings win over the unit's directories, and its secrets come from their files", async () => {
  const { DATA_DIR, CACHE_DIRECTORY, JWT_SECRET } = await environmentBy("DATA_DIR=/srv/data\n");
  assert.deepEqual([DATA_DIR, CACHE_DIRECTORY, JWT_SECRET], ["/srv/data", "/var/cache/authserve", "of jwt_secret"]);
});

test("service-authserve reads a secret from the file that the settings name", async () => {
  const { JWT_SECRET, JWT_SECRET_FILE, WEBHOOK_SECRET } = await environmentBy("JWT_SECRET_FILE=/srv/secret\n");
  assert.deepEqual([JWT_SECRET, JWT_SECRET_FILE, WEBHOOK_SECRET], [undefined, "/srv/secret", "of webhook_secret"]);
});

test("service-authserve passes on both a secret in the settings and its file, as the unit does", async () => {
  const { JWT_SECRET, JWT_SECRET_FILE, ...others } = await environmentBy("JWT_SECRET=own\nDEMO_PASSWORD=\n");
  assert.equal(JWT_SECRET, "own");
  assert.match(JWT_SECRET_FILE ?? "", /\/etc\/authserve\/jwt_secret$/);
  assert.deepEqual([others.DEMO_PASSWORD, others.DEMO_PASSWORD_FILE], ["of demo_password", undefined]);
});

test("service-authserve reads a secret from the settings if they clear its file name", async () => {
  const { JWT_SECRET, JWT_SECRET_FILE, WEBHOOK_SECRET } = await environmentBy(
    "JWT_SECRET_FILE=\nJWT_SECRET=own\nWEBHOOK_SECRET_FILE=\n",
  );
  assert.deepEqual([JWT_SECRET, JWT_SECRET_FILE, WEBHOOK_SECRET], ["own", "", undefined]);
});

test("service-authserve takes no secrets from its caller", async () => {
  const others = SECRET_NAMES.flatMap((name) => [name, `${name}_FILE`]).filter((name) => /PREVIOUS|REDIS/.test(name));
  const callers = {
    ...Object.fromEntries(others.map((name) => [name, "the caller's"])),
    JWT_SECRET: "the caller's",
    DEMO_PASSWORD_FILE: "/srv/file",
    WEBHOOK_SECRET_FILE: "",
  };
  const given = await environmentBy("", callers);
  const { JWT_SECRET, JWT_SECRET_FILE, DEMO_PASSWORD, WEBHOOK_SECRET } = given;
  assert.deepEqual(
    others.filter((name) => given[name] !== undefined),
    [],
  );
  assert.deepEqual(
    [JWT_SECRET, JWT_SECRET_FILE, DEMO_PASSWORD, WEBHOOK_SECRET],
    ["of jwt_secret", undefined, "of demo_password", "of webhook_secret"],
  );
});

// What the folder lacks, and what the command then says.
const NOT_READY: [lacking: string, found: string, remedy: string][] = [
  ["etc/authserve/authserve.conf", "The service is not set up", "run authserve init --system"],
  ["etc/authserve/jwt_secret", "The service is not set up", "run authserve init --system"],
  ["var/lib/authserve", "The service has not been started yet", "run systemctl enable --now authserve"],
];

for (const [lacking, found, remedy] of NOT_READY) {
  test(`service-authserve says what to do without /${lacking}`, async () => {
    const dir = serviceDir("");
    rmSync(join(dir, lacking), { recursive: true });
    const { code, stdout, stderr } = await runIn(dir, ["doctor"]);
    assert.deepEqual([code, stdout, stderr], [2, "", `error: ${found}\n  hint: ${remedy}\n`]);
  });
}

test("service-authserve writes no second configuration, and starts no second server", async () => {
  const dir = serviceDir("");
  for (const command of ["init", "serve"]) {
    const { code, stderr } = await runIn(dir, [command]);
    assert.equal(code, 2);
    assert.match(stderr, /^error: service-authserve has no (?:init|serve)\n {2}hint: .*authserve init --system/);
  }
});
