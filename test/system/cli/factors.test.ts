import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { tryLogin } from "../../helpers/client.ts";
import { addTotp } from "../../helpers/second-factor.ts";
import { startServer } from "../../helpers/server.ts";

suite("authserve factors", () => {
  test("adds, lists and removes factors beside a running server, and says so in the log", async () => {
    await using server = await startServer({ env: { PUBLIC_URL: "https://auth.example.com" } });
    const listed = async () => JSON.parse((await server.run(["factors", "list", "--json"])).stdout);
    assert.deepEqual(await listed(), { factors: [], recoveryCodesLeft: 0 });
    const none = await server.run(["factors", "recovery-codes"]);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /There is no second factor/);

    const added = await server.run(["factors", "add-totp", "--name", "phone"]);
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
    assert.equal((await server.run(["factors", "remove"])).code, 2);
    const removed = await server.run(["factors", "remove", id, "0000"]);
    assert.equal(removed.code, 1);
    assert.match(removed.stderr, /"event":"factor_removed"/);
    assert.match(removed.stderr, /There is no factor 0000/);
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
