import { type Query, type QueryMethod, type QueryPort, runAsync, Snapshot, Statement } from "../storage/query.ts";
import type { Postgres, Queries, TransactionOptions } from "./connection.ts";
import { arrayOf } from "./values.ts";

/** An array is sent as PostgreSQL's. An empty one fits every type as text. */
function encoded(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  if (value.length === 0) return "{}";
  return arrayOf(typeof value[0] === "number" ? "bigint" : "text", value);
}

/** A statement for each row as one for all: `VALUES ($1::text)` becomes a select from arrays. */
function forAll(text: string, all: readonly (readonly unknown[])[]) {
  const values: Buffer[] = [];
  const arrays = text.replace(/VALUES \((.*)\)/, (_, columns: string) => {
    const typed = columns.replace(/::([a-z]+)/g, (_, type: string) => {
      const column = values.length;
      values.push(
        arrayOf(
          type,
          all.map((row) => row[column]),
        ),
      );
      return `::${type}[]`;
    });
    return `SELECT * FROM unnest(${typed})`;
  });
  return { text: arrays, values };
}

const sent = ({ text, values, wants }: Statement<unknown>) =>
  wants === "each" ? forAll(text, values as readonly unknown[][]) : { text, values: values.map(encoded) };

/** Runs a statement of a store. */
export async function runStatement<Result>(queries: Queries, statement: Statement<Result>): Promise<Result> {
  const { text, values } = sent(statement);
  const answer = statement.wants === "rows" ? queries.rows(text, values) : queries.run(text, values);
  return statement.read((await answer) as never);
}

/** Runs a query as a part of a transaction, which fails if a statement does whose result is not needed. */
export const runQuery = <Result>(queries: Queries, query: Query<Result>): Promise<Result> =>
  runAsync(query, async (statement) => {
    if (statement.wants === "rows" || statement.wants === "count") return runStatement(queries, statement);
    const { text, values } = sent(statement);
    void queries.run(text, values);
  });

/**
 * The settings of a read. Without statistics the planner expects few rows: it would sort all of them instead of reading
 * an index in order.
 */
export const SETTINGS = [
  "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
  "SET LOCAL enable_bitmapscan = off",
];

/** Runs a store of queries on PostgreSQL: a method of several statements as one transaction. */
export function onPostgres<Port extends object>(
  postgres: Postgres,
  store: QueryPort<Port>,
  options?: TransactionOptions,
): Port {
  const methods = Object.entries(store) as [string, QueryMethod][];
  return Object.fromEntries(
    methods.map(([name, method]) => [
      name,
      async (...args: unknown[]) => {
        const asked = method(...args);
        if (asked instanceof Statement) return runStatement(postgres, asked);
        return postgres.transaction((queries) => {
          // After a deadlock it runs again, so that each time needs a query of its own.
          const again = method(...args) as Query<unknown> | Snapshot<unknown>;
          if (!(again instanceof Snapshot)) return runQuery(queries, again);
          for (const setting of SETTINGS) void queries.run(setting);
          return runQuery(queries, again.query);
        }, options);
      },
    ]),
  ) as Port;
}
