import { randomBytes } from "node:crypto";
import { describeError, OperatorError } from "../../errors.ts";
import { connectPostgres, type PostgresOptions } from "../connection.ts";

/** An empty database for a test, beside the one that the settings name. */
interface ScratchDatabase {
  name: string;
  /** Removes the database, and ends the connections to it. */
  drop(): Promise<void>;
}

const NOBODY = { onUp: () => {}, onDown: () => {}, onUnnamed: () => {} };

/** Creates a database on the same server. Throws {@link OperatorError} if the user may not. */
export async function createScratchDatabase(options: PostgresOptions): Promise<ScratchDatabase> {
  const name = `authserve_selftest_${randomBytes(6).toString("hex")}`;

  async function run(statement: string): Promise<void> {
    const postgres = connectPostgres({ ...options, poolSize: 1 }, NOBODY);
    try {
      await postgres.run(statement);
    } finally {
      await postgres.close();
    }
  }

  try {
    await run(`CREATE DATABASE ${name}`);
  } catch (error) {
    const found = `a database for the test cannot be created (${describeError(error)})`;
    throw new OperatorError({ found, remedy: "run ALTER ROLE … CREATEDB for the user of DATABASE_URL" }, 1);
  }
  return { name, drop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) };
}

/** A `DATABASE_URL` with another database. */
export function withDatabase(url: string, database: string): string {
  return url.replace(/^([a-z]+:\/\/[^/?#]*)(?:\/[^?#]*)?/, (_, server: string) => `${server}/${database}`);
}
