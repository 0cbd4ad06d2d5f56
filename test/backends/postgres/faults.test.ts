import { needsPostgres } from "../../helpers/back-end.ts";
import { POSTGRES_FAULTS } from "../../helpers/fault-table.ts";
import { walkAll } from "../../helpers/faults.ts";

walkAll("faults of PostgreSQL are seen as docs/faults.md says, and end", POSTGRES_FAULTS, needsPostgres());
