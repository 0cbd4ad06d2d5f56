import { SQLITE_FAULTS } from "../helpers/fault-table.ts";
import { walkAll } from "../helpers/faults.ts";

walkAll("faults with SQLite are seen as docs/faults.md says, and end", SQLITE_FAULTS, { skip: false });
