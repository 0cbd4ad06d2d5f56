import { availableParallelism } from "node:os";
import type { WriteAudit } from "../audit/store.ts";
import { createCodeCheck } from "../auth/factors/code-check.ts";
import { type CodeLogin, createCodeLogin } from "../auth/factors/code-login.ts";
import { createPasskeyLogin, type PasskeyLogin } from "../auth/factors/passkey-login.ts";
import type { PasskeySite } from "../auth/factors/passkeys.ts";
import { createSecondFactors } from "../auth/factors/second-factors.ts";
import type { Steps } from "../auth/factors/steps.ts";
import { factorsOf } from "../auth/factors/store.ts";
import { createLogin, type Login, type PersonSteps } from "../auth/login.ts";
import { createOpenSession } from "../auth/open-session.ts";
import { faultOfLength } from "../auth/password.ts";
import { createPasswordVerifier } from "../auth/people/passwords.ts";
import { forEachPerson, type Person } from "../auth/people/people.ts";
import { createThrottle } from "../auth/throttle/rules.ts";
import type { Settings } from "../config/settings.ts";
import { countHashes, countLogins } from "../instrument.ts";
import { createConcurrencyLimit } from "../lib/concurrency-limit.ts";
import type { Wiring } from "./configuration.ts";

/** How long a login on the page lasts without a renewal: `JWT_TTL`, but no longer than a session may. */
export function pageTtlSeconds({ JWT_TTL, SESSION_MAX_AGE }: Settings): number {
  return Math.min(JWT_TTL.seconds, Math.floor(SESSION_MAX_AGE / 1000));
}

/** How long a login that is kept lasts; 0 if none is. */
export const keptSeconds = ({ KEEP_LOGGED_IN }: Settings): number => Math.floor(KEEP_LOGGED_IN / 1000);

// A client would not wait for more password checks than these.
const LOGIN_QUEUE_LIMIT = 256;
// A share for each network, so that one network cannot fill the queue.
const LOGIN_QUEUE_LIMIT_PER_NETWORK = LOGIN_QUEUE_LIMIT / 2;

/** The ways to log in. */
export interface Logins {
  login: Login;
  /** The second step of the login page. */
  codeLogin: CodeLogin;
  /** The login with a passkey of a site. */
  passkeyLogin: (site: PasskeySite, steps: Steps, audit: WriteAudit) => PasskeyLogin;
}

/** Creates the logins. They limit the password checks that run and wait, and count them. */
export async function openLogin({ settings, stores, people, metrics, log }: Wiring): Promise<Logins> {
  // One core is left for deliveries and token checks, because anybody can send logins.
  const width = Math.max(availableParallelism() - 1, 1);
  const hashes = createConcurrencyLimit({ width, queueLimit: width });
  const passwords = { people, store: stores.people, secret: settings.JWT_SECRET };
  const verifyPassword = countHashes(await createPasswordVerifier(passwords), metrics);
  const throttle = createThrottle(stores.throttle, people, stores.now);
  const accountOf = ({ account }: Person) => factorsOf(stores.factors, account);
  const stepsOf = forEachPerson(people, (person): PersonSteps => {
    const store = accountOf(person);
    const factors = createSecondFactors(store, stores.now);
    const openSession = createOpenSession({
      person,
      throttle,
      sessions: stores.sessions,
      secret: settings.JWT_SECRET,
      ttlSeconds: { api: settings.JWT_TTL.seconds, form: pageTtlSeconds(settings), kept: keptSeconds(settings) },
      log,
      now: stores.now,
    });
    const checkCode = createCodeCheck({ factors, store, throttle, person, log });
    return { needsCode: factors.areNeeded, checkCode, openSession };
  });
  const login = createLogin({
    personOf: people.byEmail,
    verifyPassword: (...args) => hashes.run(() => verifyPassword(...args)),
    // Twice as many attempts as hashes: while half of them compute hashes, the others use the throttle store.
    attempts: createConcurrencyLimit({
      width: 2 * width,
      queueLimit: LOGIN_QUEUE_LIMIT,
      queueLimitPerSender: LOGIN_QUEUE_LIMIT_PER_NETWORK,
    }),
    throttle,
    stepsOf,
    faultOf: (password, { passwordHash }) => passwordHash && faultOfLength(passwordHash, password),
    log,
  });
  const codeLogin = createCodeLogin({ throttle, stepsOf });
  const passkeyLogin = (site: PasskeySite, steps: Steps, audit: WriteAudit) => {
    const openSessionOf = (person: Person) => stepsOf(person).openSession;
    const { listAll } = stores.factors;
    const parts = { people, factorsOf: accountOf, listAll, steps, site, openSessionOf, audit, log, now: stores.now };
    return countLogins(createPasskeyLogin(parts), metrics);
  };
  return { login: countLogins(login, metrics), codeLogin: countLogins(codeLogin, metrics), passkeyLogin };
}
