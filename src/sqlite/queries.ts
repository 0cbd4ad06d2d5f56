import { type Query, type QueryPort, runSync, Statement } from "../storage/query.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";

/** SQLite's form of a statement of PostgreSQL: no schema, no types, no locks of rows, and other names. */
const forSqlite = (text: string) =>
  text
    .replaceAll("authserve.", "")
    .replace(/::[a-z]+/g, "")
    .replace(/\$([0-9]+)/g, "?$1")
    .replace(/\bgreatest\(/g, "max(")
    .replace(/ FOR UPDATE$/, "");

// SQLite has no booleans.
const bindable = (value: unknown) => (typeof value === "boolean" ? Number(value) : value);

/** Creates what runs statements, each of which is prepared once. */
export function createRun(database: Database): <Result>(statement: Statement<Result>) => Result {
  const prepared = new Map<string, ReturnType<Database["prepare"]>>();

  function prepare(text: string) {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const statement = database.prepare(forSqlite(text));
    prepared.set(text, statement);
    return statement;
  }

  return ({ text, values, wants, read }) => {
    // There is one writer.
    if (text.startsWith("LOCK TABLE ")) return read(0 as never);
    const statement = prepare(text);
    const named = Object.fromEntries(values.map((value, index) => [String(index + 1), bindable(value)]));
    return read((wants === "rows" ? statement.all(named) : statement.run(named).changes) as never);
  };
}

type Method = (...args: unknown[]) => Statement<unknown> | Query<unknown>;

/** Runs a store of queries on SQLite: a method of several statements as one transaction. */
export function onSqlite<Port extends object>(database: Database, store: QueryPort<Port>): SyncPort<Port> {
  const run = createRun(database);
  const runWhole = atomic(database, (query: Query<unknown>) => runSync(query, run));
  const methods = Object.entries(store) as [string, Method][];
  return Object.fromEntries(
    methods.map(([name, method]) => [
      name,
      (...args: unknown[]) => {
        const asked = method(...args);
        return asked instanceof Statement ? run(asked) : runWhole(asked);
      },
    ]),
  ) as SyncPort<Port>;
}
