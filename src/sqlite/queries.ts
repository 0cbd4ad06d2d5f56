import { type Query, type QueryMethod, type QueryPort, runSync, Snapshot, Statement } from "../storage/query.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";

/**
 * SQLite's form of a statement of PostgreSQL: no schema, no types, no locks of rows, and other names. `order` has the
 * index of the value for each parameter. A statement that is SQLite's already has them in order. A limit has a sign,
 * see events-sql.ts.
 */
function forSqlite(text: string): { text: string; order: number[] } {
  const order: number[] = [];
  const translated = text
    .replaceAll("authserve.unrouted", "(SELECT id AS event FROM events WHERE id > (SELECT routed_to FROM tally))")
    .replaceAll("authserve.", "")
    .replaceAll("= true", "= 1")
    .replace(/= ANY\((\$[0-9]+)::[a-z]+\[\]\)/g, "IN (SELECT value FROM json_each($1))")
    .replace(/::[a-z]+/g, "")
    .replace(/\bencode\(([a-z0-9_]+), 'hex'\)/g, "lower(hex($1))")
    .replace(/\bgreatest\(/g, "max(")
    .replace(/ FOR UPDATE$/, "")
    .replace(/LIMIT \$/g, "LIMIT +$")
    .replace(/\$([0-9]+)/g, (_, number: string) => {
      order.push(Number(number) - 1);
      return "?";
    });
  return { text: translated, order };
}

/** SQLite has no booleans and no arrays. */
function bindable(value: unknown): unknown {
  if (typeof value === "boolean") return Number(value);
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

/** Creates what runs statements, each of which is prepared once. */
export function createRun(database: Database): <Result>(statement: Statement<Result>) => Result {
  const prepared = new Map<string, { statement: ReturnType<Database["prepare"]>; order: readonly number[] }>();

  function prepare(text: string) {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const { text: translated, order } = forSqlite(text);
    const one = { statement: database.prepare(translated), order };
    prepared.set(text, one);
    return one;
  }

  return ({ text, values, wants, read }) => {
    // There is one writer.
    if (wants === "nothing" && /^LOCK TABLE | FOR UPDATE$/.test(text)) return read(0 as never);
    const { statement, order } = prepare(text);
    const bind = (given: readonly unknown[]) =>
      order.length === 0 ? given : order.map((index) => bindable(given[index]));
    if (wants === "rows") return read(statement.all(bind(values)) as never);
    if (wants !== "each") return read(statement.run(bind(values)).changes as never);
    for (const row of values as readonly unknown[][]) statement.run(bind(row));
    return read(undefined as never);
  };
}

/** Runs a store of queries on SQLite: a method of several statements as one transaction. */
export function onSqlite<Port extends object>(database: Database, store: QueryPort<Port>): SyncPort<Port> {
  const run = createRun(database);
  const runWhole = atomic(database, (query: Query<unknown>) => runSync(query, run));
  // It takes no lock: a file on a read-only disk has none.
  const readWhole = database.transaction((query: Query<unknown>) => runSync(query, run));
  const methods = Object.entries(store) as [string, QueryMethod][];
  return Object.fromEntries(
    methods.map(([name, method]) => [
      name,
      (...args: unknown[]) => {
        const asked = method(...args);
        if (asked instanceof Statement) return run(asked);
        return asked instanceof Snapshot ? readWhole(asked.query) : runWhole(asked);
      },
    ]),
  ) as SyncPort<Port>;
}
