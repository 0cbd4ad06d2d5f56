/** Deliveries at a steady rate to a server that posts them back, and when each arrived. */
import { createHmac } from "node:crypto";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { deliveryBody } from "./corpus.ts";
import { WEBHOOK_SECRET } from "./targets.ts";

/** How long a sender waits before it sends a delivery again that was not answered with 200. */
const AGAIN_MS = 100;

/** A delivery, its times in milliseconds of `performance.now`. */
interface Delivery {
  sentAt: number;
  isAcknowledged: boolean;
  /** When it first reached the target. */
  arrivedAt?: number;
  arrivals: number;
}

/** Starts a target and a sender. */
export async function startSteady() {
  const deliveries = new Map<string, Delivery>();
  const target = createServer((incoming, response) => {
    const found = deliveries.get(String(incoming.headers["x-event-id"]));
    if (found) {
      found.arrivals++;
      found.arrivedAt ??= performance.now();
    }
    incoming.resume().on("end", () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  const agent = new Agent({ keepAlive: true });

  async function deliver(url: string, id: string): Promise<void> {
    const body = deliveryBody(id, deliveries.size);
    const one: Delivery = { sentAt: performance.now(), isAcknowledged: false, arrivals: 0 };
    deliveries.set(id, one);
    while (!(await isAccepted(agent, url, id, body))) await delay(AGAIN_MS);
    one.isAcknowledged = true;
  }

  return {
    /** Where the server is to post events. */
    url: `http://127.0.0.1:${(target.address() as AddressInfo).port}/`,
    /** Sends new deliveries, each until it is answered with 200. */
    async send(url: string, { perSecond, seconds }: { perSecond: number; seconds: number }): Promise<void> {
      const from = performance.now();
      const prefix = `evt_${Math.random().toString(36).slice(2)}_`;
      const sent: Promise<void>[] = [];
      for (let number = 0; number < perSecond * seconds; number++) {
        await delay(Math.max(0, from + (number * 1000) / perSecond - performance.now()));
        sent.push(deliver(url, `${prefix}${number}`));
      }
      await Promise.all(sent);
    },
    /** The deliveries that have not arrived. */
    missing: () => [...deliveries.values()].filter(({ arrivals }) => arrivals === 0).length,
    /**
     * How many were acknowledged, how many arrived more than once, and the milliseconds from the first try to the
     * target.
     */
    result() {
      const all = [...deliveries.values()];
      const arrived = all.filter((one): one is Delivery & { arrivedAt: number } => one.arrivedAt !== undefined);
      return {
        acknowledged: all.filter(({ isAcknowledged }) => isAcknowledged).length,
        repeated: all.filter(({ arrivals }) => arrivals > 1).length,
        waits: arrived.map(({ sentAt, arrivedAt }) => arrivedAt - sentAt),
      };
    },
    close(): void {
      target.close();
      target.closeAllConnections();
      agent.destroy();
    },
  };
}

function isAccepted(agent: Agent, url: string, id: string, body: string): Promise<boolean> {
  const signature = createHmac("sha256", WEBHOOK_SECRET).update(body).digest("hex");
  const headers = { "content-type": "application/json", "x-signature": signature, "x-request-id": id };
  return new Promise((resolve) => {
    const sent = request(url, { method: "POST", agent, headers, timeout: 5000 }, (response) => {
      response.resume().on("close", () => resolve(response.statusCode === 200));
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve(false)).end(body);
  });
}

/** A percentile of milliseconds. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
