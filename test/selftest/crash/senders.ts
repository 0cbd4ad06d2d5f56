import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { describeError } from "../../../src/errors.ts";
import { sendRequest } from "../../../src/lib/send-request.ts";
import { idOf, payloadOf, type TestEvent } from "./event.ts";
import type { ServerProcess } from "./server.ts";
import type { Ledger } from "./verdict.ts";

const SENDERS = 8;

// Longer than the server's own timeout for a stalled disk.
const TIMEOUT_MS = 30_000;

/** Delivers events from several senders at once. */
interface Senders {
  /** Delivers without a pause. Some time after a number of acknowledgements it kills the server. */
  deliverAndKill(server: ServerProcess, round: number, kill: { acknowledged: number; delayMs: number }): Promise<void>;
}

/** The server that is delivered to, in a round. */
interface Destination {
  server: ServerProcess;
  url: string;
  round: number;
}

/** Creates the senders. They write into the ledger what they have sent and what was acknowledged. */
export function createSenders(ledger: Ledger, secret: string): Senders {
  const senders = Array.from({ length: SENDERS }, (_, sender) => ({ sender, sent: 0 }));

  /** Sends one event after the other. An event that is under way when the server is killed is not sent again. */
  async function deliver(to: Destination, one: { sender: number; sent: number }, onAcknowledged: () => void) {
    while (!to.server.isKilled()) {
      one.sent++;
      const event = { round: to.round, sender: one.sender, number: one.sent };
      ledger.sent.add(idOf(event));
      if (!(await isAcknowledged(to, event))) return;
      ledger.acknowledged.add(idOf(event));
      onAcknowledged();
    }
  }

  /**
   * Sends an event. False if the server was killed before it answered. Throws an `OperatorError` if it does not accept
   * it.
   */
  async function isAcknowledged({ server, url }: Destination, event: TestEvent): Promise<boolean> {
    const body = payloadOf(event);
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` };
    const request = sendRequest({ url, isLocal: true, timeoutMs: TIMEOUT_MS, body, headers });
    const answer = await request.catch((error: unknown) => {
      if (server.isKilled()) return null;
      throw server.fault(`did not answer a delivery (${describeError(error)})`);
    });
    if (answer === null) return false;
    if (answer.status !== 200) throw server.fault(`answered a delivery with ${answer.status} (${answer.text})`);
    return true;
  }

  return {
    async deliverAndKill(server, round, kill) {
      const to = { server, url: `${await server.ready()}/webhook`, round };
      const enough = Promise.withResolvers<void>();
      let left = kill.acknowledged;
      const onAcknowledged = () => {
        left--;
        if (left === 0) enough.resolve();
      };
      const all = Promise.all(senders.map((one) => deliver(to, one, onAcknowledged)));
      await Promise.race([enough.promise, all]);
      await delay(kill.delayMs);
      await server.kill();
      await all;
    },
  };
}
