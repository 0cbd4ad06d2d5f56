import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Person } from "../../../src/auth/people/people.ts";
import {
  type BrowserMarks,
  createBrowserMarks,
  KNOWN_BROWSER_MS,
  revokeBrowserMarks,
} from "../../../src/auth/throttle/browser-mark.ts";
import { createSqliteThrottleStore } from "../../../src/sqlite/throttle.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { OTHER_HASH, onePerson } from "../../helpers/people.ts";

const SECRETS = ["first secret of the test"];

function open(t: TestContext) {
  const clock = { now: 1_800_000_000_000 };
  const store = createSqliteThrottleStore(tempDatabase(t).database);
  function marksOf({ secrets = SECRETS, ...changes }: { secrets?: string[] } & Parameters<typeof onePerson>[0] = {}) {
    const people = onePerson(changes);
    const marks: BrowserMarks = createBrowserMarks(secrets, people, store, () => clock.now);
    return {
      issue: (id?: string) => marks.issue(people.list()[0] as Person, id),
      read: async (values: readonly string[]) => (await marks.read(values))?.id ?? null,
    };
  }
  return { clock, store, marksOf };
}

test("a mark names its browser, also in a later login", async (t) => {
  const { marksOf, clock } = open(t);
  const marks = marksOf();
  const first = await marks.read([marks.issue()]);
  assert.match(String(first), /^[A-Za-z0-9_-]{22}$/);
  clock.now += 1000;
  assert.equal(await marks.read([marks.issue(String(first))]), first);
  assert.notEqual(await marks.read([marks.issue()]), first);
});

test("marks that are not genuine do not count, and of several the newest does", async (t) => {
  const { marksOf, clock } = open(t);
  const marks = marksOf();
  const old = marks.issue();
  clock.now += 1000;
  const mark = marks.issue();
  const [id, time, signature = ""] = mark.split(".");
  const forged = [
    "",
    "x",
    `${id}.${time}`,
    `${id}.${time}.${"A".repeat(43)}`,
    `${id}.${Number(time) + 1}.${signature}`,
    `${"A".repeat(22)}.${time}.${signature}`,
    `${mark}x`,
    ` ${mark}`,
  ];
  for (const one of forged) assert.equal(await marks.read([one]), null, one);
  assert.equal(await marks.read([...forged, old, mark, ...forged]), id);
  assert.equal(await marks.read([mark, old]), id);
});

test("a mark lasts 30 days, and none from the future is accepted", async (t) => {
  const { marksOf, clock } = open(t);
  const marks = marksOf();
  const mark = marks.issue();
  clock.now += KNOWN_BROWSER_MS - 1;
  assert.notEqual(await marks.read([mark]), null);
  clock.now += 1;
  assert.equal(await marks.read([mark]), null);
  clock.now -= KNOWN_BROWSER_MS + 3_600_000;
  assert.equal(await marks.read([mark]), null);
});

test("another password, e-mail or secret makes marks worthless, and the secret before this one does not", async (t) => {
  const { marksOf } = open(t);
  const mark = marksOf().issue();
  for (const changes of [{ passwordHash: OTHER_HASH }, { email: "other@example.com" }, { secrets: ["second secret"] }])
    assert.equal(await marksOf(changes).read([mark]), null);
  assert.notEqual(await marksOf({ secrets: ["second secret", ...SECRETS] }).read([mark]), null);
});

test("revoked marks do not count, and those of later logins do", async (t) => {
  const { marksOf, clock, store } = open(t);
  const marks = marksOf();
  const mark = marks.issue();
  clock.now += 1000;
  await revokeBrowserMarks(store, clock.now);
  assert.equal(await marks.read([mark]), null);
  clock.now += KNOWN_BROWSER_MS - 2000;
  assert.equal(await marks.read([mark]), null);
  const later = marks.issue();
  assert.notEqual(await marks.read([mark, later]), null);
});
