import { localStores } from "../../src/sqlite/stores.ts";
import { invitationContract } from "../contract/invitations.ts";
import { tempDatabase } from "../helpers/database.ts";

invitationContract("SQLite", async (t) => localStores(tempDatabase(t).database).people);
