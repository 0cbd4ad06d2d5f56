import type { Queries } from "./connection.ts";

/** Sets a value: key, value. */
const WRITE = `
INSERT INTO authserve.metadata (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

/** Sets a value that outlives the process. */
export async function writeMetadata(queries: Queries, key: string, value: string): Promise<void> {
  await queries.run(WRITE, [key, value]);
}
