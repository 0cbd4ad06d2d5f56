import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { clientTokenOf, codeOf } from "../../contract/client-store.ts";
import { authserve } from "../../helpers/command.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const dir = workingDir();
writeFileSync(
  join(dir, "authserve.yaml"),
  `clients:
  photos: { preset: immich, url: "https://photos.example.com", secret: env:PHOTOS_SECRET }
  wiki: { preset: bookstack, url: "https://wiki.example.com", secret: env:WIKI_SECRET }
  cli: { redirects: ["http://127.0.0.1/callback"], public: true }
`,
);
const env = {
  DATA_DIR: join(dir, "data"),
  PHOTOS_SECRET: "a secret of the photos, a long one",
  WIKI_SECRET: "a secret of the wiki, a long one",
};
const run = (...args: string[]) => authserve(["clients", ...args], { dir, env });

suite("clients list", () => {
  const list = async () => JSON.parse((await run("list", "--json")).stdout);

  test("shows when sessions end, and ends that an app was not told", async () => {
    const database = openDatabase(env.DATA_DIR);
    const store = localStores(database).clients;
    for (const [value, sid] of [
      ["a", "s-1"],
      ["b", "s-2"],
    ] as const) {
      const code = codeOf(value, { sid });
      await store.addCode(code);
      await store.useCode(code.digest);
      assert.ok(await store.addTokens([clientTokenOf(`${value}-access`, { sid, family: code.digest })]));
    }
    await store.settleLogout({ client: "photos", sid: "s-2" }, { to: "failed", error: "connection refused" }, 1000);
    database.close();

    const clients = await list();
    assert.deepEqual(
      clients.map(({ name, preset, ends }: Record<string, string>) => [name, preset, ends]),
      [
        ["photos", "immich", "at once"],
        ["wiki", "bookstack", "with its own session"],
        ["cli", null, "with its own session"],
      ],
    );
    const [photos, wiki] = clients;
    assert.equal(photos.redirects[0], "https://photos.example.com/auth/login");
    const { open, waiting, failed, error, failedAt } = photos;
    assert.deepEqual([open, waiting, failed, wiki.waiting], [false, 1, 1, 0]);
    assert.deepEqual([error, failedAt], ["connection refused", "1970-01-01T00:00:01.000Z"]);
    const { stdout, stderr } = await run("list");
    assert.match(stdout, /^photos +immich +at once +no +1 +1 +https:/m);
    assert.match(stderr, /^warning: photos could not be told of the end of a session: connection refused$/m);

    const retried = await run("retry", "photos");
    assert.match(retried.stderr, /^1 end of sessions will be told again\.$/m);
    const [after] = await list();
    assert.deepEqual([after.waiting, after.failed], [2, 0]);
  });
});

suite("clients presets", () => {
  test("lists those whose name has a text, and shows one with its sources and steps", async () => {
    const { stdout, stderr } = await run("presets", "git");
    assert.match(stdout, /^gitea .*asked for, not there .*\ngitlab /m);
    assert.match(stderr, /^2 presets, of which 0 end at once\.$/m);
    const one = (await run("presets", "immich")).stdout;
    assert.match(one, /^ends +at once$/m);
    assert.match(one, /^backchannel +\/api\/oauth\/backchannel-logout; read in source; https:/m);
    assert.match(one, /^redirect +app\.immich:\/\/\/oauth-callback$/m);
    assert.match(one, /^step +Signing algorithm: RS256$/m);
    assert.equal(JSON.parse((await run("presets", "opencloud", "--json")).stdout).public, true);
  });

  test("names the nearest one", async () => {
    const { code, stderr } = await run("presets", "imich");
    assert.deepEqual([code, stderr], [2, "error: There is no preset imich\n  hint: did you mean immich?\n"]);
  });
});

suite("clients explain", () => {
  const query = (changes: Record<string, string> = {}) =>
    `https://auth.example.com/oauth/authorize?${new URLSearchParams({
      client_id: "photos",
      redirect_uri: "https://photos.example.com/auth/login",
      response_type: "code",
      scope: "openid profile email",
      ...changes,
    })}`;

  test("says that a request passes", async () => {
    const { code, stdout, stderr } = await run("explain", "photos", query());
    assert.equal(code, 0);
    assert.match(stdout, /^redirect_uri +yes +redirect_uri is "https:/m);
    assert.match(stderr, /^The request would be accepted\.$/m);
  });

  test("says which check fails, and what to do", async () => {
    const slash = await run("explain", "photos", query({ redirect_uri: "https://photos.example.com/auth/login/" }));
    assert.equal(slash.code, 1);
    assert.match(slash.stdout, /^redirect_uri +NO .*which differs in: a slash at the end$/m);
    assert.match(slash.stderr, /lead back to no app\.$/m);
    const token = await run("explain", "photos", query({ response_type: "token" }), "--json");
    assert.equal(token.code, 1);
    const { accepted, error, checks } = JSON.parse(token.stdout);
    assert.deepEqual([accepted, error], [false, "unsupported_response_type"]);
    assert.deepEqual(
      checks.filter(({ ok }: { ok: boolean }) => !ok).map(({ check }: { check: string }) => check),
      ["response_type"],
    );
  });

  test("says that the request is of another client", async () => {
    const { code, stdout } = await run("explain", "wiki", query());
    assert.equal(code, 1);
    assert.match(stdout, /^client_id +NO .*known: wiki$/m);
  });

  test("refuses an unknown client, and a text that is no request", async () => {
    assert.match(
      (await run("explain", "photo", query())).stderr,
      /There is no client photo\n {2}hint: did you mean photos\?/,
    );
    const { code, stderr } = await run("explain", "photos", "https://auth.example.com/");
    assert.equal(code, 2);
    assert.match(stderr, /The URL has no query/);
  });
});
