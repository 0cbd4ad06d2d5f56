import { type Query, type QueryPort, runAsync, Statement } from "../storage/query.ts";
import type { Postgres, Queries } from "./connection.ts";

/** Runs a statement of a store. */
async function run<Result>(queries: Queries, { text, values, wants, read }: Statement<Result>): Promise<Result> {
  return read((await (wants === "rows" ? queries.rows(text, values) : queries.run(text, values))) as never);
}

/** Runs a query as a part of a transaction. */
export const runQuery = <Result>(queries: Queries, query: Query<Result>): Promise<Result> =>
  runAsync(query, (statement) => run(queries, statement));

type Method = (...args: unknown[]) => Statement<unknown> | Query<unknown>;

/** Runs a store of queries on PostgreSQL: a method of several statements as one transaction. */
export function onPostgres<Port extends object>(postgres: Postgres, store: QueryPort<Port>): Port {
  const methods = Object.entries(store) as [string, Method][];
  return Object.fromEntries(
    methods.map(([name, method]) => [
      name,
      async (...args: unknown[]) => {
        const asked = method(...args);
        if (asked instanceof Statement) return run(postgres, asked);
        // After a deadlock it runs again, so that each time needs a query of its own.
        return postgres.transaction((queries) => runQuery(queries, method(...args) as Query<unknown>));
      },
    ]),
  ) as Port;
}
