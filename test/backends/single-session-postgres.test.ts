import { after, before, suite } from "node:test";
import { singleSessionSuite } from "../contract/single-session.ts";
import { tenPeopleSuite } from "../contract/ten-people.ts";
import { needsPostgres } from "../helpers/back-end.ts";
import type { Server } from "../helpers/server.ts";
import { endOfSuite, startThree } from "../helpers/several-servers.ts";

suite("with PostgreSQL", needsPostgres(), () => {
  const cleanup = endOfSuite(after);
  let servers: Server[];
  before(async () => {
    servers = await startThree(cleanup, {});
  });

  singleSessionSuite("PostgreSQL with three servers", async () => servers);
  tenPeopleSuite("PostgreSQL", async () => ({}));
});
