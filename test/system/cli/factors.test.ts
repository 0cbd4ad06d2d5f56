import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { post, tryLogin } from "../../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { EMAIL, PASSWORD } from "../../helpers/credentials.ts";
import { addTotp } from "../../helpers/second-factor.ts";
import { startServer } from "../../helpers/server.ts";
import { totpCode } from "../../helpers/totp.ts";
import { until } from "../../helpers/until.ts";

suite("authserve factors", () => {
  test("adds, lists and removes factors beside a running server, and says so in the log", async () => {
    await using server = await startServer({ env: { PUBLIC_URL: "https://auth.example.com" } });
    const listed = async () => JSON.parse((await server.run(["factors", "list", "--json"])).stdout);
    assert.deepEqual(await listed(), { factors: [], recoveryCodesLeft: 0 });
    const none = await server.run(["factors", "recovery-codes"]);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /There is no second factor/);

    const added = await server.run(["factors", "add-totp", "--unconfirmed", "--name", "phone"]);
    const [uri = "", ...codes] = added.stdout.trim().split("\n");
    assert.match(uri, /^otpauth:\/\/totp\/auth\.example\.com:.*[?&]issuer=auth\.example\.com/);
    assert.equal(codes.length, 10);
    const line = JSON.parse(added.stderr);
    assert.deepEqual([line.event, line.kind, line.name], ["factor_added", "totp", "phone"]);
    assert.ok(!added.stderr.includes(String(new URL(uri).searchParams.get("secret"))));
    const { id, codes: noCodes } = await addTotp(server);
    assert.deepEqual(noCodes, []);
    const { factors, recoveryCodesLeft } = await listed();
    assert.deepEqual(
      factors.map(({ kind, name, lastUsedAt }: Record<string, unknown>) => [kind, name, lastUsedAt]),
      [
        ["totp", "phone", null],
        ["totp", "authenticator app", null],
      ],
    );
    assert.equal(recoveryCodesLeft, 10);

    const renewed = (await server.run(["factors", "recovery-codes"])).stdout.trim().split("\n");
    assert.equal(renewed.length, 10);
    assert.ok(!renewed.some((code) => codes.includes(code)));
    assert.match((await server.run(["factors", "add-totp", "--json"])).stderr, /add --unconfirmed/);
    assert.equal((await server.run(["factors", "remove"])).code, 2);
    const removed = await server.run(["factors", "remove", id, "0000"]);
    assert.equal(removed.code, 1);
    assert.match(removed.stderr, /"event":"factor_removed"/);
    assert.match(removed.stderr, /There is no factor 0000/);
  });

  // https://github.com/nextcloud/twofactor_totp/issues/22
  test("an app counts once it has shown a right code, and that code proves no login", async () => {
    await using server = await startServer();
    const start = () => {
      const options = { dir: server.dir, env: server.env, keepInputOpen: true };
      return startProgram(EXECUTABLE, ["factors", "add-totp"], options);
    };
    /** Gives the first code that the app shows, as a script does that reads the URI. */
    async function give(codeOf: (secret: string) => string) {
      const command = start();
      const uri = await until(() => /^otpauth:\S+$/m.exec(command.stdout())?.[0]);
      const code = codeOf(String(new URL(uri).searchParams.get("secret")));
      command.child.stdin?.write(`${code}\n`);
      const { code: exit } = await command.exited;
      return { exit, code, codes: command.stdout().trim().split("\n").slice(1), stderr: command.stderr() };
    }
    const wrong = await give((secret) => totpCode(secret, Date.now() - 5 * 60_000));
    assert.equal(wrong.exit, 1);
    assert.match(
      wrong.stderr,
      /The code is wrong: the clock of the app is about 5(?:\.5)? min behind that of this machine/,
    );
    assert.match((await give(() => "123")).stderr, /The code is wrong: the clock of this machine says 2/);
    const none = await server.run(["factors", "add-totp"]);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /no factor was added\n {2}hint: give the code as one line, or add --unconfirmed/);
    assert.equal((await tryLogin(server)).status, 200);

    const { exit, code, codes } = await give((secret) => totpCode(secret));
    assert.equal(exit, 0);
    assert.equal(codes.length, 10);
    assert.equal((await tryLogin(server)).json.code, "second_factor_required");
    const credentials = { email: EMAIL, password: PASSWORD };
    assert.equal((await post(server, "/auth/login/code", { ...credentials, code })).json.code, "invalid_code");
    assert.equal((await server.logged("second_factor_failed")).message, "login failed: used code");
    assert.equal((await post(server, "/auth/login/code", { ...credentials, code: codes[0] })).status, 200);
  });

  test("on a terminal the code is asked until it is right", async () => {
    await using server = await startServer();
    const command = startProgram("script", ["-qec", `${EXECUTABLE} factors add-totp`, "/dev/null"], {
      dir: server.dir,
      env: server.env,
      keepInputOpen: true,
    });
    const asked = (times: number) => until(() => command.stdout().split("The code that it shows: ").length > times);
    await asked(1);
    command.child.stdin?.write("000000\n");
    await asked(2);
    const uri = /otpauth:\S+/.exec(command.stdout())?.[0] ?? "";
    command.child.stdin?.write(`${totpCode(String(new URL(uri).searchParams.get("secret")))}\n`);
    assert.equal((await command.exited).code, 0);
    assert.match(command.stdout(), /The code is wrong: .* Type the code that the app shows now\./);
    assert.equal((await tryLogin(server)).json.code, "second_factor_required");
  });

  // https://github.com/go-gitea/gitea/issues/1055
  test("doctor warns when the recovery codes are used up", async () => {
    await using server = await startServer();
    const { codes } = await addTotp(server);
    const credentials = { email: EMAIL, password: PASSWORD };
    const isWarned = async () => /no recovery codes are left/.test((await server.run(["doctor"])).stdout);
    assert.equal(await isWarned(), false);
    for (const code of codes)
      assert.equal((await post(server, "/auth/login/code", { ...credentials, code })).status, 200);
    assert.equal(await isWarned(), true);
  });

  test("whoever has lost everything and has the machine logs in again", async () => {
    await using server = await startServer();
    await addTotp(server);
    assert.equal((await tryLogin(server)).json.code, "second_factor_required");
    const { code, stdout } = await server.run(["factors", "remove", "--all", "--json"]);
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).removed.length, 1);
    assert.equal((await tryLogin(server)).status, 200);
    assert.deepEqual(JSON.parse((await server.run(["factors", "list", "--json"])).stdout), {
      factors: [],
      recoveryCodesLeft: 0,
    });
  });
});
