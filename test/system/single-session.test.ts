import assert from "node:assert/strict";
import { after, test } from "node:test";
import { singleSessionSuite } from "../contract/single-session.ts";
import { logIn, me } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

singleSessionSuite("the embedded store", async () => [server]);

test("120 parallel logins from one address all succeed, and one has a valid session", async () => {
  const tokens = await Promise.all(Array.from({ length: 120 }, () => logIn(server)));
  const answers = await Promise.all(tokens.map((token) => me(server, token)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
});
