import { suite } from "node:test";
import { singleSessionSuite } from "../contract/single-session.ts";
import { needsPostgres } from "../helpers/back-end.ts";
import { startThree } from "../helpers/several-servers.ts";

suite("with PostgreSQL", needsPostgres(), () => {
  singleSessionSuite("PostgreSQL with three servers", (t) => startThree(t, {}));
});
