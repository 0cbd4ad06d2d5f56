import { createLane } from "../auth/lane.ts";
import { createLogin, type Login } from "../auth/login.ts";
import type { AuthStores } from "../auth/open.ts";
import { createPasswordVerifier } from "../auth/password.ts";
import { createThrottle } from "../auth/throttle.ts";
import type { Settings } from "../config/settings.ts";
import { coresButOne } from "../cores.ts";
import { countingLogins } from "../counting.ts";
import { canonicalEmail } from "../email.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";

// Behind more hashes than these a client would wait longer than it is likely to.
const LOGIN_QUEUE_LIMIT = 256;
// Leaves room for others behind a network that sends as many as it can.
const LOGIN_QUEUE_LIMIT_PER_NETWORK = LOGIN_QUEUE_LIMIT / 2;

/** Wires the login of the process: there is one, so that its bounds hold however many threads take requests. */
export async function openLogin(
  settings: Settings,
  { sessions, throttle }: AuthStores,
  metrics: Metrics,
  log: Log,
): Promise<Login> {
  // A core is left to deliveries and to the guard: anybody may send logins.
  const width = coresButOne();
  // Twice as many attempts as hashes: while some hash, the others take places in the throttle or give them back.
  const attempts = createLane({
    width: 2 * width,
    queueLimit: LOGIN_QUEUE_LIMIT,
    queueLimitPerSender: LOGIN_QUEUE_LIMIT_PER_NETWORK,
  });
  const hashes = createLane({ width, queueLimit: width });
  const verifyPassword = await createPasswordVerifier(settings.DEMO_PASSWORD);
  const login = createLogin({
    user: { id: settings.DEMO_USER_ID, email: settings.DEMO_EMAIL },
    verifyPassword: (password, userIsKnown) =>
      hashes.run(() => {
        metrics.passwordHashes.inc();
        return verifyPassword(password, userIsKnown);
      }),
    lane: attempts,
    throttle: createThrottle(throttle, canonicalEmail(settings.DEMO_EMAIL)),
    sessions,
    secret: settings.JWT_SECRET,
    ttlSeconds: settings.JWT_TTL.seconds,
    log,
    now: Date.now,
  });
  return countingLogins(login, metrics);
}
