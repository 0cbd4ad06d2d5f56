import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type AppParts, listEndpoints } from "../src/app.ts";
import { AUDIT_ACTIONS } from "../src/audit/store.ts";
import { allNodes, commandTree } from "../src/cli/command-tree.ts";
import { EXAMPLES } from "../src/cli/examples.ts";
import { createProgram } from "../src/cli/program.ts";
import { AUDITED_COMMANDS, UNAUDITED_COMMANDS } from "./helpers/audited-commands.ts";

/** Why an endpoint with another method than GET writes nothing to the audit. */
const UNAUDITED_ENDPOINTS: Record<string, string> = {
  ...named("a step of a login or a logout, which the log and the page of the account have", [
    "POST /auth/bound/refresh",
    "POST /auth/bound/register",
    "POST /auth/login",
    "POST /auth/login/code",
    "POST /auth/logout",
    "POST /login",
    "POST /login/code",
    "POST /login/end",
    "POST /login/passkey",
    "POST /logout",
  ]),
  ...named("it only answers", [
    "* /auth/verify",
    "* /auth/verify/redirect",
    "* /auth/verify/redirect/**",
    "OPTIONS /auth/login",
    "OPTIONS /auth/login/code",
    "OPTIONS /auth/logout",
    "OPTIONS /auth/me",
    "POST /admin/api/sources/draft",
    "POST /admin/api/sources/explain",
  ]),
  "POST /admin/api/alerts/test": "it sends test messages",
  "POST /admin/api/sources/send": "it sends a delivery, as its sender can",
};

function named(reason: string, endpoints: readonly string[]): Record<string, string> {
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint, reason]));
}

// Handlers are created but never run, so the other parts may be missing.
const parts: Partial<AppParts> = {
  sources: [],
  browser: { secret: "no secret" } as AppParts["browser"],
  invitations: {} as AppParts["invitations"],
  admin: {} as AppParts["admin"],
  checkHost: (_, handler) => handler,
  corsOrigins: ["https://app.example.com"],
};

/** Commands that run something, also those that have others below them. */
const runnable = allNodes(commandTree(createProgram()))
  .filter(({ path, children }) => children.length === 0 || path.join(" ") === "events held")
  .map(({ path }) => path.join(" "));

test("each command has an example", () => {
  assert.deepEqual(
    runnable.filter((path) => !Object.hasOwn(EXAMPLES, path)),
    [],
  );
});

suite("a change that is not in the audit is known", () => {
  test("each command is audited, or has a reason why not", () => {
    assert.deepEqual(
      runnable.toSorted(),
      [...Object.keys(AUDITED_COMMANDS), ...Object.keys(UNAUDITED_COMMANDS)].sort(),
    );
  });

  test("each endpoint that is no GET is audited, or has a reason why not", () => {
    const changing = listEndpoints(parts as AppParts).filter(({ method }) => method !== "GET" && method !== "HEAD");
    const unaudited = changing.filter(({ auditAction }) => auditAction === undefined);
    assert.deepEqual(
      unaudited.map(({ method, path }) => `${method} ${path}`).sort(),
      Object.keys(UNAUDITED_ENDPOINTS).sort(),
    );
  });

  test("each action is made by a command, an endpoint or a server", () => {
    const made = new Set([
      "config.take",
      // At a login with a passkey, which is not a change otherwise.
      "factor.counter_lost",
      ...Object.values(AUDITED_COMMANDS).flatMap((runs) => runs.map(({ action }) => action)),
      ...listEndpoints(parts as AppParts).flatMap(({ auditAction }) => auditAction ?? []),
    ]);
    assert.deepEqual([...made].sort(), Object.keys(AUDIT_ACTIONS).sort());
  });
});
