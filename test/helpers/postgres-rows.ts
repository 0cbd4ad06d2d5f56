import { Client } from "pg";

/** The counts, if they differ from what is stored while all events are processed. */
export const MISCOUNTED = `
SELECT * FROM (SELECT sum(queued) AS queued, sum(processed) AS processed, sum(failed) AS failed, sum(ids) AS ids
  FROM authserve.tally WHERE route = '') AS counted
WHERE queued <> 0 OR failed <> 0 OR processed <> (SELECT count(*) FROM authserve.events) OR ids <> processed`;

/** Returns the rows of a statement. */
type Rows = <Row = Record<string, unknown>>(text: string) => Promise<Row[]>;

/** Uses a connection to a database, and closes it. */
export async function withDatabase<T>(url: string, use: (rows: Rows) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await use(async (text) => (await client.query(text)).rows);
  } finally {
    await client.end();
  }
}
