import { join } from "node:path";
import { erasureSuite, filesWith } from "../contract/erasure.ts";

erasureSuite(
  "SQLite",
  async () => ({}),
  async ({ dir }, text) => filesWith(join(dir, "data"), text),
);
