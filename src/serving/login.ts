import { createLane } from "../auth/lane.ts";
import { createLogin, type Login } from "../auth/login.ts";
import type { AuthStores } from "../auth/open.ts";
import { createPasswordVerifier } from "../auth/password.ts";
import { createThrottle } from "../auth/throttle.ts";
import type { Settings } from "../config/settings.ts";
import { coresButOne } from "../cores.ts";
import { countingLogins } from "../counting.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";

// Behind more hashes than these a client would wait longer than it is likely to.
const LOGIN_QUEUE_LIMIT = 256;

/** Wires the login of the process: there is one, so that its bounds hold however many threads take requests. */
export async function openLogin(
  settings: Settings,
  { sessions, throttle }: AuthStores,
  metrics: Metrics,
  log: Log,
): Promise<Login> {
  // A core is left to deliveries and to the guard: anybody may send logins.
  const width = coresButOne();
  const hashes = createLane(width, LOGIN_QUEUE_LIMIT);
  // Twice as many as hashes: while some hash, the others take places in the throttle or give them back.
  const attempts = createLane(2 * width, LOGIN_QUEUE_LIMIT);
  const verifyPassword = await createPasswordVerifier(settings.DEMO_PASSWORD);
  const login = createLogin({
    user: { id: settings.DEMO_USER_ID, email: settings.DEMO_EMAIL },
    verifyPassword: (password, userIsKnown) =>
      hashes.run(() => {
        metrics.passwordHashes.inc();
        return verifyPassword(password, userIsKnown);
      }),
    lane: attempts,
    throttle: createThrottle(throttle),
    sessions,
    secret: settings.JWT_SECRET,
    ttlSeconds: settings.JWT_TTL.seconds,
    log,
    now: Date.now,
  });
  return countingLogins(login, metrics);
}
