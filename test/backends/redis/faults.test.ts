import { needsRedis } from "../../helpers/back-end.ts";
import { REDIS_FAULTS } from "../../helpers/fault-table.ts";
import { walkAll } from "../../helpers/faults.ts";

walkAll("faults of Redis are seen as docs/faults.md says, and end", REDIS_FAULTS, needsRedis());
