import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { decodeJwt } from "jose";
import { clientSid } from "../../../src/auth/clients/claims.ts";
import { createLogoutDelivery } from "../../../src/auth/clients/logout-delivery.ts";
import { createSigningKeys } from "../../../src/auth/clients/signing-keys.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { clientTokenOf, codeOf } from "../../contract/client-store.ts";
import { clientWith } from "../../helpers/clients.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { recordingLog } from "../../helpers/log.ts";
import { startTarget } from "../../helpers/target.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { until } from "../../helpers/until.ts";

const ISSUER = "https://auth.example.com";
const alone = async () => true;

/** An app, and the sessions that it was told to end. */
async function startApp(t: Cleanup, name: string) {
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  const sidIn = (body: Buffer) => decodeJwt(new URLSearchParams(String(body)).get("logout_token") ?? "").sid;
  const client = clientWith({ name, logout: { backchannel: `${target.url}/logout`, after: [] } });
  return { answer: target.answer, client, told: () => target.received.map(({ body }) => sidIn(body)) };
}

/** What tells apps of sessions, all of which have ended. Its clock stands still until the test sets it. */
function openDelivery(t: Cleanup) {
  const { clients: store } = localStores(tempDatabase(t).database);
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const { log, named } = recordingLog();
  const sessions = { current: async () => null };
  const keys = createSigningKeys({ store, now });
  const delivery = createLogoutDelivery({ store, sessions, keys, issuer: ISSUER, log, now });
  t.after(() => delivery.stop());
  return {
    delivery,
    clock,
    /** The attempts that failed, as logged. */
    failures: () => named("logout_not_delivered").length,
    /** How many ends are still to be told. */
    waiting: async () => (await store.participations()).length,
    async join(client: string, sid: string): Promise<void> {
      const code = codeOf(`${client}-${sid}`, { client, sid });
      await store.addCode(code);
      await store.useCode(code.digest);
      await store.addTokens([clientTokenOf(`${client}-${sid}-access`, { client, sid, family: code.digest })]);
    },
  };
}

suite("telling apps of the end of sessions", () => {
  test("an app that does not answer keeps no other one waiting, also not with its next session", async (t) => {
    const [hanging, well] = [await startApp(t, "hanging"), await startApp(t, "well")];
    hanging.answer(() => {});
    const { delivery, join } = openDelivery(t);
    const clients = [hanging.client, well.client];
    for (const sid of ["s-1", "s-2"]) {
      for (const { name } of clients) await join(name, sid);
      await until(async () => {
        await delivery.run(clients, alone);
        return well.told().includes(clientSid(sid, "well"));
      });
    }
    await until(() => hanging.told().length > 0);
    assert.deepEqual(hanging.told(), [clientSid("s-1", "hanging")], "one at a time");
  });

  test("an app that answers again is told all that waits for another attempt", async (t) => {
    const { answer, client, told } = await startApp(t, "photos");
    answer((_, response) => response.writeHead(503).end());
    const { delivery, clock, join, failures, waiting } = openDelivery(t);
    await join("photos", "s-1");
    await join("photos", "s-2");
    for (const count of [2, 4, 6]) {
      await until(async () => {
        await delivery.run([client], alone);
        return failures() === count;
      });
      clock.now += 29_000;
    }
    answer((_, response) => response.writeHead(200).end());
    await delivery.run([client], alone);
    assert.equal(told().length, 6, "none is due");
    await join("photos", "s-3");
    await until(async () => {
      await delivery.run([client], alone);
      return (await waiting()) === 0;
    });
    const all = ["s-1", "s-2", "s-3"].map((sid) => clientSid(sid, "photos"));
    assert.deepEqual(told().slice(6).toSorted(), all.toSorted());
  });
});
