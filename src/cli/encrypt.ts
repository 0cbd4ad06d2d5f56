import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { remedyAt, SERVICE_CONF } from "../config/service.ts";
import { readSettings } from "../config/settings.ts";
import { OperatorError, SettingsError } from "../errors.ts";
import type { EncryptionStore } from "../events/encryption.ts";
import { isLockHeld } from "../sqlite/data-dir.ts";
import { makeChange } from "./make-change.ts";
import { counted, printJson, say } from "./output.ts";
import { sayReplaced } from "./replaced-files.ts";
import { type CommandStores, PAUSE_MS, withStores } from "./stores.ts";

// Rows that one transaction encrypts.
const LIMIT = 200;

/**
 * Encrypts with the first key of `ENCRYPTION_KEYS` what is stored plain or with another key, also while a server runs.
 * It may be broken off: the next run goes on. The exit code is 1 if a key is missing, or a row is damaged.
 */
export function runEncrypt({ json }: { json?: boolean }): Promise<void> {
  const environment = readEnvironment();
  const { DATA_DIR, DATABASE_URL, ENCRYPTION_KEYS } = readSettings(environment, [
    "DATA_DIR",
    "DATABASE_URL",
    "ENCRYPTION_KEYS",
  ]);
  if (ENCRYPTION_KEYS === undefined) {
    const make = "make a key with openssl rand -base64 32 > FILE";
    const remedy = remedyAt({
      folder: `${make}, and set ENCRYPTION_KEYS to the file`,
      service: `${make} and chown authserve FILE, and set ENCRYPTION_KEYS to the file in ${SERVICE_CONF}`,
    });
    throw new SettingsError([{ found: "ENCRYPTION_KEYS is not set", remedy }]);
  }
  const isAlone = () => DATABASE_URL === undefined && !isLockHeld(DATA_DIR);
  return withStores(async (stores) => {
    const { encryption } = stores;
    await requireKnownKey(stores);
    const { encrypted, unreadable } = await makeChange(stores, {
      action: "store.encrypt",
      asked: {},
      make: () =>
        encryptAll(encryption, async () => {
          if (!isAlone()) await delay(PAUSE_MS);
        }),
      outcome: (done) => (done.encrypted === 0 ? null : { rows: done.encrypted }),
    });
    const missing = await encryption.forgetKeys();
    const isClean = await encryption.clean();
    if (json) printJson({ encrypted, unreadable, missing, clean: isClean });
    else report({ encrypted, unreadable, missing, isClean });
    sayReplaced(stores.settings);
    if (unreadable > 0 || Object.keys(missing).length > 0) process.exitCode = 1;
  });
}

/** Throws {@link OperatorError} if a running server could not read what the first key encrypts. */
export async function requireKnownKey({ encryption, shared, settings }: CommandStores): Promise<void> {
  if (settings.ENCRYPTION_KEYS === undefined || (await encryption.isFirstKeyNoted())) return;
  const isServed =
    shared === null ? isLockHeld(settings.DATA_DIR) : (await shared.nodes.list()).some(({ isAlive }) => isAlive);
  if (!isServed) return;
  const found = "The running server was not started with the first key of ENCRYPTION_KEYS";
  throw new OperatorError({ found, remedy: "restart each server with these ENCRYPTION_KEYS, and run this again" }, 1);
}

/** Encrypts all tables page by page. */
async function encryptAll(encryption: EncryptionStore, pause: () => Promise<void>) {
  let encrypted = 0;
  let unreadable = 0;
  for (const table of encryption.tables) {
    for (let from: number | null = 0; from !== null; ) {
      const page = await encryption.reseal({ table, from, limit: LIMIT });
      encrypted += page.changed;
      // Rows that no key opens come again until a page has only these.
      if (page.changed === 0) unreadable += page.unreadable;
      from = page.next;
      if (page.changed > 0) await pause();
    }
  }
  return { encrypted, unreadable };
}

interface Result {
  encrypted: number;
  unreadable: number;
  missing: Record<string, number>;
  isClean: boolean;
}

function report({ encrypted, unreadable, missing, isClean }: Result): void {
  say(`Encrypted ${counted(encrypted, "row")} with the first key.`);
  for (const [id, rows] of Object.entries(missing))
    say(`${counted(rows, "row")} ${rows === 1 ? "needs" : "need"} the key ${id}, which ENCRYPTION_KEYS does not have.`);
  if (unreadable > 0) say(`${counted(unreadable, "row")} cannot be decrypted: see authserve doctor.`);
  if (!isClean)
    say("Removed payloads can leave traces in the file: run this once while the server is stopped, which clears them.");
}
