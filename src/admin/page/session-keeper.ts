import { signal } from "@preact/signals";
import { readSession } from "./requests.ts";
import { poll } from "./resource.ts";

const LOOK_MS = 10_000;
/** The page asks for a renewal from this time before the end on. The server gives one if it is due. */
const RENEWED_BEFORE_MS = 6 * 60_000;
/** Someone who did something so long ago still uses the page. */
const USED_MS = 2 * 60_000;
const WARNED_BEFORE_MS = 60_000;

/** Whether the session ends within a minute. */
export const isEnding = signal(false);

let usedAt = Date.now();

/** Renews the session, if the server allows it. */
export async function renewSession(): Promise<void> {
  const renewal = new URL("../login/renew", document.baseURI);
  renewal.searchParams.set("rd", location.pathname);
  // The cookie comes with the redirect.
  await fetch(renewal, { redirect: "manual", cache: "no-store" }).catch(() => {});
  await look();
}

/** Reads when the session ends, in Unix milliseconds; null if that is unknown. */
async function look(): Promise<number | null> {
  const { expiresAt } = await readSession();
  const endsAt = expiresAt === null ? null : Date.parse(expiresAt);
  isEnding.value = endsAt !== null && endsAt - Date.now() < WARNED_BEFORE_MS;
  return endsAt;
}

/** Keeps the session while the page is used. What the page does by itself is no use. Returns what ends it. */
export function keepSession(): () => void {
  const onUse = () => {
    usedAt = Date.now();
  };
  const kinds = ["pointerdown", "keydown", "wheel", "touchmove"] as const;
  for (const kind of kinds) addEventListener(kind, onUse, { passive: true });
  const endPoll = poll(async () => {
    // A failure is told by what else the page reads.
    const endsAt = await look().catch(() => null);
    if (endsAt === null || endsAt - Date.now() > RENEWED_BEFORE_MS) return;
    if (Date.now() - usedAt < USED_MS) await renewSession().catch(() => {});
  }, LOOK_MS);
  return () => {
    for (const kind of kinds) removeEventListener(kind, onUse);
    endPoll();
  };
}
