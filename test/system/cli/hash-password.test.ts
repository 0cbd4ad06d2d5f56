import assert from "node:assert/strict";
import { test } from "node:test";
import { verify } from "@node-rs/argon2";
import { logIn } from "../../helpers/client.ts";
import { authserve, type Command, EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { startServer } from "../../helpers/server.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const dir = workingDir();
const hash = (input: string | Buffer) => authserve(["hash-password"], { dir, input });

const HASH = /\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}/;

/** Types each line at a terminal when its question appears. Returns all output of the terminal. */
async function typed(lines: readonly string[]): Promise<{ code: number | null; shown: string }> {
  const program = startProgram("script", ["-qec", `${EXECUTABLE} hash-password`, "/dev/null"], {
    dir,
    keepInputOpen: true,
  });
  try {
    for (const [index, line] of lines.entries()) {
      await until(() => program.stdout().split(/: ?$|: \r?\n/m).length > index + 1);
      program.child.stdin?.write(line);
    }
    const { code } = await program.exited;
    return { code, shown: program.stdout() };
  } finally {
    program.child.kill("SIGKILL");
  }
}

test("prints only the hash of a password from standard input, and the hash works", async () => {
  const { code, stdout, stderr } = await hash("a password of words\n");
  assert.equal(code, 0);
  assert.match(stdout, new RegExp(`^${HASH.source}\n$`));
  assert.equal(stderr, "");
  await using server = await startServer({ env: { DEMO_PASSWORD: stdout.trim() } });
  await logIn(server, { password: "a password of words" });
});

test("--json gives the hash as data", async () => {
  const { stdout } = await authserve(["hash-password", "--json"], { dir, input: "a password of words" });
  assert.match((JSON.parse(stdout) as { hash: string }).hash, new RegExp(`^${HASH.source}$`));
});

test("only one final line end is removed from the password", async () => {
  const { stdout } = await hash(" spaces stay \r\n");
  assert.ok(await verify(stdout.trim(), " spaces stay "));
});

test("a byte order mark is not part of the password", async () => {
  const { stdout } = await hash("\ufeffa password of words\n");
  assert.ok(await verify(stdout.trim(), "a password of words"));
});

test("more than one line is refused with exit code 2 and no hash", async () => {
  for (const input of ["a password of words\n\n", "a password\r\nof words\n", "a password\rof words"]) {
    const { code, stdout, stderr } = await hash(input);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^error: Standard input has more than one line/);
  }
});

test("a password that is too short, too long or not UTF-8 is refused with exit code 2 and no hash", async () => {
  for (const input of [
    "",
    "\n",
    "12345\n",
    "x".repeat(1025),
    Buffer.from([0xff, 0xfe, 0x41, 0x41, 0x41, 0x41, 0x41]),
  ]) {
    const { code, stdout, stderr } = await hash(input);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^error: .*(?:characters|UTF-8)/);
  }
});

test("at a terminal the password is asked for twice and never shown", async () => {
  const { code, shown } = await typed(["typed-secret\r", "typed-secret\r"]);
  assert.equal(code, 0, shown);
  assert.match(shown, HASH);
  assert.match(shown, /Password: [\s\S]*Again: /);
  assert.doesNotMatch(shown, /typed|secret\b/);
});

test("at a terminal both answers may arrive at once", async () => {
  for (const end of ["\r", "\r\n"]) {
    const { code, shown } = await typed([`typed-secret${end}typed-secret${end}`]);
    assert.equal(code, 0, shown);
    assert.match(shown, HASH);
  }
});

test("at a terminal the LF after a CR may arrive later", async () => {
  const { code, shown } = await typed(["typed-secret\r", "\ntyped-secret\r"]);
  assert.equal(code, 0, shown);
  assert.match(shown, HASH);
});

/** Runs shell commands at a terminal, where `ask` asks for a password. */
function startShell(context: Cleanup, lines: string): { shell: Command; asked(times: number): Promise<number> } {
  const ask = `sh -c 'echo "pid=$$"; exec ${EXECUTABLE} hash-password'`;
  const args = ["-qec", `ulimit -c 0; ${lines.replace("ask", () => ask)}`, "/dev/null"];
  const shell = startProgram("script", args, { dir, keepInputOpen: true });
  context.after(() => void shell.child.kill("SIGKILL"));
  return {
    shell,
    /** Waits for the question. Returns the process that asks. */
    async asked(times) {
      await until(() => shell.stdout().split("Password: ").length > times);
      return Number(/pid=([0-9]+)/.exec(shell.stdout())?.[1]);
    },
  };
}

for (const [signal, code] of [
  ["SIGHUP", 129],
  ["SIGQUIT", 131],
] as const) {
  test(`${signal} at the prompt ends the process and restores the terminal`, async (t) => {
    const { shell, asked } = startShell(t, "ask; echo code=$?; stty -a");
    process.kill(await asked(1), signal);
    await shell.exited;
    assert.match(shell.stdout(), new RegExp(`code=${code}\\b[\\s\\S]* icanon [\\s\\S]* echo `));
  });
}

test("a prompt that continues after a stop asks again without echo", async (t) => {
  const { shell, asked } = startShell(t, "set -m; ask; stty sane; fg; echo code=$?");
  process.kill(await asked(1), "SIGTSTP");
  await asked(2);
  shell.child.stdin?.write("typed-secret\r");
  await until(() => shell.stdout().includes("Again: "));
  shell.child.stdin?.write("typed-secret\r");
  await shell.exited;
  assert.match(shell.stdout(), HASH);
  assert.match(shell.stdout(), /code=0/);
  assert.doesNotMatch(shell.stdout(), /typed|secret\b/);
});

test("at a terminal backspace deletes a character", async () => {
  const { code, shown } = await typed(["typed-secrex\x7ft\r", "typed-secret\r"]);
  assert.equal(code, 0, shown);
  assert.match(shown, HASH);
});

test("at a terminal Ctrl+U deletes the line", async () => {
  const { code, shown } = await typed(["typo and more\x15typed-secret\r", "typed-secret\r"]);
  assert.equal(code, 0, shown);
  assert.match(shown, HASH);
});

test("at a terminal two different passwords give exit code 1 and no hash", async () => {
  const { code, shown } = await typed(["typed-secret\r", "typed-other\r"]);
  assert.equal(code, 1);
  assert.doesNotMatch(shown, HASH);
  assert.match(shown, /differ/);
});

test("at a terminal Ctrl+C cancels with exit code 1", async () => {
  const { code, shown } = await typed(["typed\x03"]);
  assert.equal(code, 1);
  assert.match(shown, /Cancelled\. Nothing was changed\./);
});
