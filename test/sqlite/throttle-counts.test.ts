import { createSqliteThrottleStore } from "../../src/sqlite/throttle.ts";
import { throttleCountsContract } from "../contract/throttle-counts.ts";
import { tempDatabase } from "../helpers/database.ts";

throttleCountsContract("SQLite", async (t) => createSqliteThrottleStore(tempDatabase(t).database));
