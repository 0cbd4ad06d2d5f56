import { privatePayloadSuite } from "../contract/private-payloads.ts";

privatePayloadSuite(
  "SQLite",
  async () => ({}),
  () => false,
);
