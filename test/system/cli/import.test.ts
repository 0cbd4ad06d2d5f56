import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { hash } from "../../../src/auth/bcrypt.ts";
import { ask, logIn, post } from "../../helpers/client.ts";
import { authserve } from "../../helpers/command.ts";
import { EMAIL, PASSWORD } from "../../helpers/credentials.ts";
import { startServer } from "../../helpers/server.ts";
import { signature } from "../../helpers/sign.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

async function imported(product: string, text: string): Promise<string> {
  const dir = workingDir();
  writeFileSync(join(dir, "given"), text);
  const { code, stderr } = await authserve(["import", product, "given", "--out", "."], { dir });
  assert.equal(code, 0, stderr);
  return dir;
}

suite("a server with what import has written", () => {
  test("calls the command of a hook with arguments and variables of the payload, as the hook does", async () => {
    const folder = join(workingDir(), "site");
    mkdirSync(folder);
    const hook = {
      id: "deploy",
      "execute-command": "./deploy.sh",
      "command-working-directory": folder,
      "pass-environment-to-command": [{ source: "payload", name: "pusher.name", envname: "HOOK_BY" }],
      "pass-arguments-to-command": [
        { source: "string", name: "--now" },
        { source: "payload", name: "commits.0.id" },
        { source: "payload", name: "missing" },
        { source: "header", name: "X-GitHub-Event" },
      ],
      "response-message": "started",
      "trigger-rule": {
        and: [
          {
            match: {
              type: "payload-hmac-sha256",
              secret: "the secret of the hook",
              parameter: { source: "header", name: "X-Hub-Signature-256" },
            },
          },
          { match: { type: "value", value: "main", parameter: { source: "payload", name: "ref" } } },
        ],
      },
    };
    writeFileSync(
      join(folder, "deploy.sh"),
      '#!/bin/sh\n{ pwd; env | grep "^HOOK_"; printf "<%s>" "$@"; } >>ran\ntouch done\n',
    );
    chmodSync(join(folder, "deploy.sh"), 0o700);
    const dir = await imported("adnanh-webhook", JSON.stringify([hook], null, "\t"));
    await using server = await startServer({ dir });
    const push = async (id: string, payload: object) => {
      const body = JSON.stringify(payload);
      return post(server, "/hooks/deploy", body, {
        "X-Hub-Signature-256": signature(body, "the secret of the hook"),
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": id,
      });
    };
    const wrong = await post(server, "/hooks/deploy", "{}", { "X-Hub-Signature-256": signature("{}", "another one") });
    assert.equal(wrong.status, 403);
    assert.equal((await push("one", { ref: "other" })).text, "started");
    const commits = [{ id: "$(touch bad); a\nb\u0000c" }];
    assert.equal((await push("two", { ref: "main", pusher: { name: "Ana B" }, commits })).text, "started");
    await until(() => existsSync(join(folder, "done")));
    assert.equal(
      readFileSync(join(folder, "ran"), "utf8"),
      `${folder}\nHOOK_BY=Ana B\n<--now><$(touch bad); a\nbc><><push>`,
    );
    assert.ok(!existsSync(join(folder, "bad")));
  });

  test("lets the user of Tinyauth log in, and opens the paths of its labels", async () => {
    const compose = `services:
  tinyauth:
    image: ghcr.io/steveiliop56/tinyauth:v5
    environment:
      TINYAUTH_APPURL: https://auth.example.com
      TINYAUTH_AUTH_USERS: '${EMAIL}:${(await hash(PASSWORD, 4)).replaceAll("$", "$$$$")}'
      TINYAUTH_AUTH_TRUSTEDPROXIES: 127.0.0.1
  films:
    labels: { tinyauth.apps.films.path.allow: "^/api/" }
`;
    const dir = await imported("tinyauth", compose);
    const fromFile = { DEMO_EMAIL: undefined, DEMO_PASSWORD: undefined };
    await using server = await startServer({ dir, env: fromFile });
    await logIn(server);
    const asked = async (path: string) => {
      const headers = { "X-Forwarded-Host": "films.example.com", "X-Forwarded-Uri": path };
      const proxied = { "X-Forwarded-Proto": "https", "X-Forwarded-Method": "GET", "X-Forwarded-For": "192.0.2.1" };
      return (await ask(server, "/auth/verify", { headers: { ...headers, ...proxied } })).status;
    };
    assert.deepEqual([await asked("/api/series"), await asked("/apis"), await asked("/")], [200, 401, 401]);
  });
});
