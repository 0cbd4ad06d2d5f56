import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { needsPostgres } from "../../helpers/back-end.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { startLoad } from "../../helpers/postgres-load.ts";

const ROUNDS = 10;
const MOST_MS = 200;

suite("PostgreSQL is killed at any moment", needsPostgres(), () => {
  test(`after ${ROUNDS} kills nothing is lost, and nothing is done twice`, async (t) => {
    const database = await startPostgres(t);
    const load = await startLoad(t, { url: database.url() });
    for (let round = 0; round < ROUNDS; round++) {
      await load.acknowledged(20);
      await delay(Math.random() * MOST_MS);
      await database.kill();
      await database.restart();
    }
    await load.heals();
    await load.isComplete();
  });
});
