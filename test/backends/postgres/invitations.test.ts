import { suite } from "node:test";
import { onPostgres } from "../../../src/postgres/queries.ts";
import { personStore } from "../../../src/storage/people.ts";
import { invitationContract } from "../../contract/invitations.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("invitations on PostgreSQL", needsPostgres(), () => {
  invitationContract("PostgreSQL", async (t) => onPostgres((await reusedPostgres(t)).postgres, personStore));
});
