import { localStores } from "../../src/sqlite/stores.ts";
import { auditStoreContract } from "../contract/audit-store.ts";
import { tempDatabase } from "../helpers/database.ts";

auditStoreContract("SQLite", async (t) => {
  const { database } = tempDatabase(t);
  return { store: localStores(database).audit, run: async (statement) => void database.exec(statement) };
});
