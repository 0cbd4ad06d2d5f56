import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { logIn, tryLogin } from "../../helpers/client.ts";
import { authserve } from "../../helpers/command.ts";
import { PASSWORD_HASH } from "../../helpers/credentials.ts";
import { settings, startServer } from "../../helpers/server.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const NEW_PASSWORD = "a new and better password";

/** A directory with these lines in its `.env`. */
function dirWith(...lines: string[]): string {
  const dir = workingDir();
  writeFileSync(join(dir, ".env"), `${lines.join("\n")}\n`);
  chmodSync(join(dir, ".env"), 0o600);
  return dir;
}

suite("authserve passwd", () => {
  test("writes the hash to .env, and changes nothing else there", async () => {
    const before = ["# settings", `export DEMO_PASSWORD = '${PASSWORD_HASH}'`, "PORT=1"];
    const dir = dirWith(...before);
    const { code, stdout, stderr } = await authserve(["passwd"], { dir, input: NEW_PASSWORD });
    assert.deepEqual([code, stdout], [0, ""], stderr);
    assert.match(stderr, /^Wrote the hash of the new password to \.env\. Restart the server/);
    const lines = readFileSync(join(dir, ".env"), "utf8").split("\n");
    assert.deepEqual([lines[0], lines[2], lines[3]], ["# settings", "PORT=1", ""]);
    assert.match(lines[1] ?? "", /^export DEMO_PASSWORD ='\$argon2id\$.*'$/);
    assert.equal(statSync(join(dir, ".env")).mode & 0o777, 0o600);

    const { DEMO_PASSWORD: _, ...env } = settings(dir, { PORT: "0" });
    await using server = await startServer({ dir, env: { ...env, DEMO_PASSWORD: undefined } });
    await logIn(server, { password: NEW_PASSWORD });
    assert.equal((await tryLogin(server)).status, 401);
  });

  for (const [where, lines, env] of [
    ["nowhere yet", ["PORT=1"], {}],
    ["in the environment", [`DEMO_PASSWORD='${PASSWORD_HASH}'`], { DEMO_PASSWORD: PASSWORD_HASH }],
  ] as const) {
    test(`prints the line to set when the password is set ${where}`, async () => {
      const dir = dirWith(...lines);
      const { code, stdout } = await authserve(["passwd"], { dir, env, input: NEW_PASSWORD });
      assert.equal(code, 0);
      assert.match(stdout, /^DEMO_PASSWORD='\$argon2id\$[^']*'\n$/);
      assert.equal(readFileSync(join(dir, ".env"), "utf8"), `${lines.join("\n")}\n`);
    });
  }

  test("refuses a weak password, and changes nothing", async () => {
    const dir = dirWith(`DEMO_PASSWORD='${PASSWORD_HASH}'`);
    const { code, stderr } = await authserve(["passwd"], { dir, input: "password" });
    assert.equal(code, 2);
    assert.match(stderr, /^error: The password is very common\n {2}hint: choose another/);
    assert.match(readFileSync(join(dir, ".env"), "utf8"), new RegExp(PASSWORD_HASH.slice(-20).replaceAll("+", "\\+")));
  });
});
