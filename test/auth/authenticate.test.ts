import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createAuthenticate } from "../../src/auth/authenticate.ts";
import type { SessionStore } from "../../src/auth/sessions.ts";
import { createSignToken } from "../../src/auth/token.ts";
import { AppError, type ErrorCode } from "../../src/errors.ts";
import { headerValues } from "../../src/lib/header-value.ts";
import { failsWith } from "../helpers/fails-with.ts";
import { onePerson } from "../helpers/people.ts";
import { requestWith } from "../helpers/requests.ts";

const SECRET = "3kX9vQ2mZ7pL4tR8wY1cB6nH5jD0sF-gA";
const USER = { id: "1", email: "demo@example.com" };
const NOW_MS = 1_800_000_000_500;
const IAT = Math.floor(NOW_MS / 1000);
const CLAIMS = { sub: "1", email: USER.email, sid: "s-1", iat: IAT, exp: IAT + 900 };
const signToken = createSignToken(SECRET);
const TOKEN = await signToken(CLAIMS);
/** The device of each session, which must be proved from now on. */
const DEVICE = { publicKey: "{}", challengedAt: 1, boundFrom: NOW_MS };

/** A session store with one record, which counts its reads. */
function sessionsWith(records: Record<string, string>) {
  let asked = 0;
  const refuse = () => Promise.reject(new Error("the guard only reads"));
  const store: SessionStore = {
    find: async (userId) => {
      asked++;
      const sid = records[userId];
      return sid === undefined ? null : { sid, expiresAt: NOW_MS + 1, origin: null, device: DEVICE };
    },
    current: refuse,
    supersession: async () => null,
    replace: refuse,
    extendIf: refuse,
    registerDevice: refuse,
    proveDevice: refuse,
    remove: refuse,
    removeIf: refuse,
    bind: refuse,
    check: refuse,
  };
  return { store, asked: () => asked };
}

function guard(records: Record<string, string> = { "1": "s-1" }) {
  const { store, asked } = sessionsWith(records);
  const authenticate = createAuthenticate(onePerson(USER), store, [SECRET], () => NOW_MS);
  return {
    asked,
    withCookie: async (...tokens: string[]) => (await authenticate.byCookie(tokens)).claims,
    with: async (...headers: [string, string][]) =>
      (await authenticate.byHeader(headerValues((await requestWith(headers)).rawHeaders, "authorization"))).claims,
  };
}

async function refusedWith(code: ErrorCode, challenge: string, headers: [string, string][]): Promise<void> {
  const { with: ask, asked } = guard();
  const error = await failsWith(code, ask(...headers));
  assert.equal(error.headers?.["WWW-Authenticate"], challenge);
  assert.equal(asked(), 0, "the store was asked for a token that is not genuine");
}

suite("the Authorization header", () => {
  for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
    test(`with scheme ${scheme} is accepted`, async () => {
      assert.deepEqual(await guard().with(["Authorization", `${scheme} ${TOKEN}`]), CLAIMS);
    });
  }

  for (const value of [
    "",
    "Basic dXNlcjpwdw==",
    `Token ${TOKEN}`,
    TOKEN,
    `BearerToken ${TOKEN}`,
    "Negotiate",
    "Bearer",
    "bearer \t",
  ]) {
    test(`${JSON.stringify(value).slice(0, 24)} has no token, and the challenge names no error`, () =>
      refusedWith("missing_token", "Bearer", [["Authorization", value]]));
  }

  test("missing is missing_token", () => refusedWith("missing_token", "Bearer", []));

  for (const [what, value] of [
    ["two spaces", `Bearer  ${TOKEN}`],
    ["a tab", `Bearer\t${TOKEN}`],
    ["a comma", `Bearer,${TOKEN}`],
    ["an equals sign", `Bearer=${TOKEN}`],
    ["a second word", `Bearer ${TOKEN} x`],
    ["two tokens", `Bearer ${TOKEN}, Bearer ${TOKEN}`],
    ["quotes", `Bearer "${TOKEN}"`],
    ["an unsigned token", "Bearer x.y.z"],
    ["a thousand schemes", "Bearer ".repeat(1000)],
    ["a padded token", `Bearer ${TOKEN}=`],
  ] as const) {
    test(`with ${what} is an invalid token`, () =>
      refusedWith("invalid_token", 'Bearer error="invalid_token"', [["Authorization", value]]));
  }

  test("without a space before the token is refused", async () => {
    await assert.rejects(guard().with(["Authorization", `Bearer${TOKEN}`]), { name: "AppError" });
  });

  for (const [first, second] of [
    [`Bearer ${TOKEN}`, "junk"],
    ["junk", `Bearer ${TOKEN}`],
    [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`],
  ] as const) {
    test(`sent twice (${first.slice(0, 8)}, ${second.slice(0, 8)}) is refused`, async () => {
      const { with: ask, asked } = guard();
      await failsWith("invalid_token", ask(["Authorization", first], ["authorization", second]));
      assert.equal(asked(), 0);
    });
  }

  for (const name of ["X-Authorization", "Authorization_", "Proxy-Authorization", "Cookie"]) {
    test(`cannot be replaced by ${name}`, () => refusedWith("missing_token", "Bearer", [[name, `Bearer ${TOKEN}`]]));
  }
});

suite("a genuine token", () => {
  const bearer = async (changes: Partial<typeof CLAIMS>): Promise<[string, string]> => [
    "Authorization",
    `Bearer ${await signToken({ ...CLAIMS, ...changes })}`,
  ];

  test("of a superseded session is session_invalidated", async () => {
    const error = await failsWith("session_invalidated", guard({ "1": "s-2" }).with(await bearer({})));
    assert.equal(error.headers?.["WWW-Authenticate"], 'Bearer error="invalid_token"');
  });

  test("without a live session is session_invalidated", async () => {
    await failsWith("session_invalidated", guard({}).with(await bearer({})));
  });

  test("of another user is refused, even if the sid is that of a live session", async () => {
    await failsWith("session_invalidated", guard({ "1": "s-1" }).with(await bearer({ sub: "2" })));
  });

  test("with another e-mail than the configured one is invalid", async () => {
    await failsWith("invalid_token", guard().with(await bearer({ email: "old@example.com" })));
  });

  test("that has expired is invalid, even if the session is live", async () => {
    await failsWith("invalid_token", guard().with(await bearer({ iat: IAT - 900, exp: IAT })));
  });

  test("gets 503, and never 401, while the store is down", async () => {
    const { store } = sessionsWith({});
    store.find = () => Promise.reject(new AppError("store_unavailable"));
    const authenticate = createAuthenticate(onePerson(USER), store, [SECRET], () => NOW_MS);
    await failsWith("store_unavailable", authenticate.byHeader([`Bearer ${TOKEN}`]));
  });
});

suite("the tokens of a cookie", () => {
  const JUNK = Array.from({ length: 100 }, (_, n) =>
    TOKEN.replace(/[^.]+$/, Buffer.alloc(32, n).toString("base64url")),
  );

  test("that are not genuine do not count, however many come before the genuine one", async () => {
    assert.deepEqual(await guard().withCookie(...JUNK, TOKEN), CLAIMS);
    const { withCookie, asked } = guard();
    await failsWith("invalid_token", withCookie(...JUNK));
    assert.equal(asked(), 0);
  });

  test("may be of ended sessions beside that of the live one, in any order", async () => {
    const ended = await Promise.all(
      Array.from({ length: 20 }, (_, n) => signToken({ ...CLAIMS, sid: `old-${n}`, iat: IAT - n })),
    );
    for (const tokens of [
      [...ended, TOKEN],
      [TOKEN, ...ended],
    ]) {
      const { withCookie, asked } = guard();
      assert.deepEqual(await withCookie(...tokens), CLAIMS);
      assert.equal(asked(), 1);
    }
    await failsWith("session_invalidated", guard().withCookie(...ended));
  });

  test("without any is missing_token", async () => {
    await failsWith("missing_token", guard().withCookie());
  });
});

test("a session must be proved from its binding on, by its cookie and as a Bearer token", async () => {
  const { store } = sessionsWith({ "1": "s-1" });
  const device = { isProved: (sid: string, proofs: readonly string[]) => proofs.includes(`proof of ${sid}`) };
  const people = onePerson(USER);
  const [person] = people.list();
  const at = (now: number) => createAuthenticate(people, store, [SECRET], () => now, device);
  const [before, bound] = [at(NOW_MS - 1), at(NOW_MS)];
  assert.deepEqual(await before.byCookie([TOKEN]), { claims: CLAIMS, person, isBound: false });
  for (const ask of [bound.byCookie([TOKEN], ["another"]), bound.byHeader([`Bearer ${TOKEN}`])])
    await failsWith("device_not_proved", ask);
  assert.deepEqual(await bound.byCookie([TOKEN], ["proof of s-1"]), { claims: CLAIMS, person, isBound: true });
  assert.equal((await bound.byHeader([`Bearer ${TOKEN}`], ["proof of s-1"])).isBound, true);
});
