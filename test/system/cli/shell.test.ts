import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import packageJson from "../../../package.json" with { type: "json" };
import { allNodes, commandTree } from "../../../src/cli/command-tree.ts";
import { manPage } from "../../../src/cli/man.ts";
import { createProgram } from "../../../src/cli/program.ts";
import { SETTING_NAMES } from "../../../src/config/settings.ts";
import { needs } from "../../helpers/back-end.ts";
import { authserve, EXECUTABLE } from "../../helpers/command.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const nodes = allNodes(commandTree(createProgram()));
const needsProgram = (name: string) =>
  needs(name, () => spawnSync(name, ["--version"]).error === undefined, `${name} is not on the path`);

suite("authserve completion", () => {
  // Each shell's completions for these words, the last of which is incomplete.
  const ASK = {
    bash: `COMP_WORDS=(authserve "$@"); COMP_CWORD=$#; _authserve; printf '%s\\n' "\${COMPREPLY[@]:-files}"`,
    // These replace zsh's own functions, which need a terminal.
    zsh: `_describe() { (( $#entries )) && print -l -- $entries; }; _files() { print files; }
      words=(authserve "$@"); CURRENT=$#words; _authserve`,
    fish: 'complete -C "authserve $argv"',
  };

  type Shell = keyof typeof ASK;
  const scripts = new Map<Shell, Promise<string>>();

  /** The output of the command, which is run once for each shell. */
  function scriptOf(shell: Shell): Promise<string> {
    const script =
      scripts.get(shell) ?? authserve(["completion", shell], { dir: workingDir() }).then(({ stdout }) => stdout);
    scripts.set(shell, script);
    return script;
  }

  async function complete(shell: Shell, words: readonly string[]): Promise<string[]> {
    const dir = workingDir();
    writeFileSync(join(dir, "a-file"), "");
    const script = `${shell === "zsh" ? "compdef() {}\n" : ""}${await scriptOf(shell)}\n${ASK[shell]}`;
    const args = shell === "bash" || shell === "zsh" ? ["-c", script, shell, ...words] : ["-c", script, ...words];
    const found = execFileSync(shell, args, { cwd: dir, env: { PATH: process.env.PATH, HOME: dir }, encoding: "utf8" });
    // Each line is a word and its description.
    return found
      .trim()
      .split("\n")
      .map((line) => line.replace(/[:\t].*/, ""));
  }

  for (const [words, expected] of [
    [["ev"], ["events"]],
    [
      ["events", ""],
      ["list", "show", "replay", "discard", "erase", "prune", "stats", "held", "reverify", "send-test", "--help"],
    ],
    [
      ["events", "list", "--s"],
      ["--status", "--source", "--since", "--search", "--server"],
    ],
    [
      ["events", "list", "--status", ""],
      ["queued", "processed", "failed", "discarded", "unrouted"],
    ],
    [["events", "list", "--json", "--status", "f"], ["failed"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", "--help"],
    ],
    [["backup", "--j"], ["--json"]],
    [["backup", ""], ["files"]],
    [["restore", "--json", ""], ["files"]],
  ] as const) {
    test(`bash completes: authserve ${words.join(" ")}`, async () => {
      assert.deepEqual(await complete("bash", words), [...expected]);
    });
  }

  for (const [words, expected] of [
    [
      ["events", ""],
      ["list", "show", "replay", "discard", "erase", "prune", "stats", "held", "reverify", "send-test", "--help"],
    ],
    [
      ["events", "list", "--status", ""],
      ["queued", "processed", "failed", "discarded", "unrouted"],
    ],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", "--help"],
    ],
    [
      ["backup", "-"],
      ["--force", "--keep", "--json", "--help"],
    ],
    [["backup", ""], ["files"]],
    [["restore", "--json", ""], ["files"]],
  ] as const) {
    test(`zsh completes: authserve ${words.join(" ")}`, needsProgram("zsh"), async () => {
      assert.deepEqual(await complete("zsh", words), [...expected]);
    });
  }

  test("zsh also completes from a file on the fpath, at the first call", needsProgram("zsh"), async () => {
    const dir = workingDir();
    writeFileSync(join(dir, "_authserve"), await scriptOf("zsh"));
    const script = `fpath=(${dir} $fpath); autoload -Uz _authserve; ${ASK.zsh}`;
    const found = execFileSync("zsh", ["-fc", script, "zsh", "throttle", ""], { encoding: "utf8" });
    assert.match(found, /^show:.*\nclear:.*\nforget-browsers:.*\n--help:/);
  });

  for (const [words, expected] of [
    [
      ["events", "s"],
      ["send-test", "show", "stats"],
    ],
    [
      ["events", "list", "--status", ""],
      ["discarded", "failed", "processed", "queued", "unrouted"],
    ],
    [
      ["completion", ""],
      ["bash", "fish", "zsh"],
    ],
    [["backup", ""], ["a-file"]],
    [["restore", "--json", ""], ["a-file"]],
    [["serve", ""], [""]],
    [["events", "list", "--type", ""], [""]],
    [
      ["serve", "--"],
      ["--help", "--init"],
    ],
  ] as const) {
    test(`fish completes: authserve ${words.join(" ")}`, needsProgram("fish"), async () => {
      assert.deepEqual((await complete("fish", words)).sort(), [...expected]);
    });
  }

  for (const shell of ["bash", "zsh", "fish"] as const) {
    test(`${shell} accepts its script, which names every option`, needsProgram(shell), async () => {
      const dir = workingDir();
      const script = await scriptOf(shell);
      writeFileSync(join(dir, "script"), script);
      execFileSync(shell, ["-n", join(dir, "script")]);
      for (const { long } of nodes.flatMap(({ options }) => options)) {
        assert.ok(long && script.includes(long.slice(2)), long ?? "");
      }
    });
  }

  test("an unknown shell is refused with the names of the known ones", async () => {
    assert.equal((await authserve(["completion", "toString"], { dir: workingDir() })).code, 2);
    const { code, stderr } = await authserve(["completion", "csh"], { dir: workingDir() });
    assert.equal(code, 2);
    assert.match(stderr, /bash, zsh, fish/);
  });
});

suite("authserve docs", () => {
  test("lists the pages, prints one, and finds sections by their words", async () => {
    const docs = (...words: string[]) => authserve(["docs", ...words], { dir: workingDir() });
    assert.match((await docs()).stdout, /^events +Events$/m);
    assert.match((await docs("events")).stdout, /^# Events\n/);
    assert.match((await docs("rotate", "SECRETS")).stdout, /^operate\n\n## Rotate secrets\n/);
    assert.match((await docs("restore", "backup")).stdout, /^operate\n\n## Back up and restore\n/);
    assert.match((await docs("changelog")).stdout, /^# Changelog\n/);
    const found = async (...words: string[]) => (await docs(...words)).stdout.split("\n", 3).join("");
    assert.equal(await found("nginx"), "protect-an-app## nginx");
    assert.equal(await found("postgres"), "postgresql# PostgreSQL");
    assert.equal(await found("backups"), "operate## Back up and restore");
    assert.equal(await found("signature", "invalid"), "troubleshooting## Every delivery is 403: invalid signature");
    assert.equal(await found("timeouts"), "routes## Choose the handler");
    const none = await docs("xyzzy", "plugh");
    assert.equal(none.code, 1);
    assert.match(none.stderr, /No section has all these words/);
  });
});

suite("authserve man", () => {
  test("describes every command and option", () => {
    const page = manPage(createProgram()).replaceAll("\\-", "-");
    for (const { path, children, options } of nodes) {
      if (children.length === 0) assert.match(page, new RegExp(`^\\.SS authserve ${path.join(" ")}( |$)`, "m"));
      for (const { flags } of options) if (path.length > 0) assert.ok(page.includes(`.B ${flags}`), flags);
    }
  });

  test("is a page that man formats without a warning", needsProgram("man"), async () => {
    const dir = workingDir();
    const { stdout } = await authserve(["man"], { dir });
    writeFileSync(join(dir, "authserve.1"), stdout);
    const formatted = spawnSync("man", ["--warnings", "-l", join(dir, "authserve.1")], {
      encoding: "utf8",
      env: { ...process.env, MANWIDTH: "80" },
    });
    assert.equal(formatted.stderr, "");
    assert.match(formatted.stdout, /AUTHSERVE\(1\)/);
    for (const name of SETTING_NAMES) assert.ok(formatted.stdout.includes(name), `${name} is not in one piece`);
  });
});

suite("authserve licenses", () => {
  test("lists every production package with a licence, and no development package", async () => {
    const { stdout } = await authserve(["licenses", "--json"], { dir: workingDir() });
    const listed = JSON.parse(stdout) as { name: string; license: string }[];
    for (const name of Object.keys(packageJson.dependencies)) {
      assert.ok(
        listed.some((component) => component.name === name),
        name,
      );
    }
    for (const name of Object.keys(packageJson.devDependencies)) {
      assert.ok(!listed.some((component) => component.name === name), name);
    }
    assert.deepEqual(
      listed.filter(({ license }) => license === "UNKNOWN"),
      [],
    );
  });

  test("--full --json has the full licence texts", async () => {
    const { stdout } = await authserve(["licenses", "--full", "--json"], { dir: workingDir() });
    const listed = JSON.parse(stdout) as { name: string; text: string }[];
    assert.match(listed.find(({ name }) => name === "h3")?.text ?? "", /Permission is hereby granted/);
  });

  test("a reader that stops early causes no error", () => {
    const run = spawnSync("bash", ["-c", `"$0" licenses --full | head -1; echo "\${PIPESTATUS[0]}"`, EXECUTABLE], {
      encoding: "utf8",
    });
    assert.match(run.stdout, /\n0\n$/);
    assert.equal(run.stderr, "");
  });
});
