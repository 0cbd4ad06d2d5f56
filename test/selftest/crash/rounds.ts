import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { hashPassword } from "../../../src/auth/password.ts";
import type { Environment } from "../../../src/config/settings.ts";
import { createApp } from "./app.ts";
import { makeEncryptionKey, storeSettings } from "./configuration.ts";
import { createSenders } from "./senders.ts";
import { type ServerProcess, startServer } from "./server.ts";
import { drain, judge } from "./stored.ts";
import { startTarget } from "./target.ts";
import { createLedger, type Faults } from "./verdict.ts";

const MAX_ACKNOWLEDGED = 200;
// A kill at an acknowledgement would always come just after a commit.
const MAX_KILL_DELAY_MS = 5;
const SHARE_KILLED_AT_START = 0.1;
const MAX_START_MS = 300;

// The password is random.
const LOW_COST = { memoryKib: 8, passes: 1 };

interface CrashTestOptions {
  /** An empty folder. */
  folder: string;
  /** The operator's settings, for `ADDON_DIR`. */
  environment: Environment;
  /** An empty PostgreSQL database, instead of SQLite. */
  databaseUrl?: string | undefined;
  rounds: number;
  onRound(done: number): void;
}

/** What a crash test has found. */
export interface CrashTestResult {
  sent: number;
  acknowledged: number;
  stored: number;
  /** Sessions that the app took part in. */
  sessions: number;
  faults: Faults;
}

/** A crash test. */
interface CrashTest {
  /** Kills a server in each round, then judges what is stored. Throws an `OperatorError` if a server does not work. */
  run(): Promise<CrashTestResult>;
  /** Kills the server. No other one is started. */
  abort(): Promise<void>;
}

/** Creates a crash test in a folder of its own. */
export function createCrashTest(options: CrashTestOptions): CrashTest {
  const { folder, environment, databaseUrl, rounds, onRound } = options;
  const settings = storeSettings({ folder, databaseUrl });
  makeEncryptionKey(folder);
  const newSecret = () => randomBytes(32).toString("base64");
  const [webhookSecret, password, appSecret] = [newSecret(), newSecret(), newSecret()] as const;
  const ledger = createLedger();
  const senders = createSenders(ledger, webhookSecret);
  const app = createApp(ledger, { password, appSecret });
  let server: ServerProcess | undefined;
  let isAborted = false;

  async function killInEachRound(start: () => ServerProcess): Promise<void> {
    for (let round = 1; round <= rounds; round++) {
      const kill = chooseKill(round, Math.random);
      const killed = start();
      if (kill.during === "load") await Promise.all([app.logIn(killed), senders.deliverAndKill(killed, round, kill)]);
      else {
        await delay(kill.afterMs);
        await killed.kill();
      }
      onRound(round);
    }
  }

  async function processTheRest(last: ServerProcess): Promise<void> {
    await last.ready();
    await app.endSession(last);
    await drain(settings, ledger.sent.size, last.isRunning, app.isTold);
    await last.stop();
  }

  return {
    async run() {
      const passwordHash = await hashPassword(password, LOW_COST);
      const serverOptions = { folder, environment, databaseUrl, webhookSecret, passwordHash, appSecret };
      const target = await startTarget(ledger);
      let started = 0;
      const start = () => {
        if (isAborted) throw new Error("the test was aborted");
        server = startServer(serverOptions, target.urls(++started));
        return server;
      };
      try {
        await killInEachRound(start);
        await processTheRest(start());
      } finally {
        await server?.kill();
        await target.close();
      }
      const found = await judge(settings, ledger);
      const { sent, acknowledged, sessions } = ledger;
      return { sent: sent.size, acknowledged: acknowledged.size, sessions: sessions.begun.size, ...found };
    },
    async abort() {
      isAborted = true;
      await server?.kill();
    },
  };
}

/**
 * When the server of a round is killed: some time after its start, or after a number of acknowledgements and a delay.
 */
type Kill = { during: "start"; afterMs: number } | { during: "load"; acknowledged: number; delayMs: number };

/** Chooses the moment of a kill. The first round has load, so that every test has some. */
function chooseKill(round: number, random: () => number): Kill {
  if (round > 1 && random() < SHARE_KILLED_AT_START) return { during: "start", afterMs: random() * MAX_START_MS };
  const acknowledged = 1 + Math.floor(random() * MAX_ACKNOWLEDGED);
  return { during: "load", acknowledged, delayMs: random() * MAX_KILL_DELAY_MS };
}
