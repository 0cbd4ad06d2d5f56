/**
 * A statement of a store, written once for both databases: in the form of PostgreSQL, which the driver of SQLite
 * translates. An array among its values is for `= ANY($1::bigint[])`. In a method of several statements, `yield*` runs
 * it and has its result.
 */
export class Statement<Result> {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly wants: "rows" | "count" | "nothing" | "each";
  readonly read: (answer: never) => Result;

  constructor(
    text: string,
    values: readonly unknown[],
    wants: Statement<Result>["wants"],
    read: (answer: never) => Result,
  ) {
    this.text = text;
    this.values = values;
    this.wants = wants;
    this.read = read;
  }

  /** The same statement with another result. */
  as<Other>(next: (result: Result) => Other): Statement<Other> {
    return new Statement(this.text, this.values, this.wants, (answer) => next(this.read(answer)));
  }

  *[Symbol.iterator](): Query<Result> {
    return (yield this) as Result;
  }
}

/** What a method of several statements does, in one transaction. A driver runs it, one statement after the other. */
export type Query<Result> = Generator<Statement<unknown>, Result, unknown>;

/** Several statements that only read, all of them the same state of the store. */
export class Snapshot<Result> {
  readonly query: Query<Result>;

  constructor(query: Query<Result>) {
    this.query = query;
  }
}

/** A store whose methods are statements, or queries of several. */
export type QueryPort<Port> = {
  [Method in keyof Port]: Port[Method] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Statement<Result> | Query<Result> | Snapshot<Result>
    : never;
};

/** A method of a store, as a driver runs it. */
export type QueryMethod = (...args: unknown[]) => Statement<unknown> | Query<unknown> | Snapshot<unknown>;

/** The rows of a statement. */
export const rows = <Row>(text: string, ...values: unknown[]): Statement<Row[]> =>
  new Statement(text, values, "rows", (answer: Row[]) => answer);

/** The first row of a statement; undefined without one. */
export const row = <Row>(text: string, ...values: unknown[]): Statement<Row | undefined> =>
  rows<Row>(text, ...values).as(([first]) => first);

/** The number of rows that a statement has changed. */
export const change = (text: string, ...values: unknown[]): Statement<number> =>
  new Statement(text, values, "count", (answer: number) => answer);

/** A statement whose result is not needed. In a transaction PostgreSQL gets it with the next one that is awaited. */
export const changed = (text: string, ...values: unknown[]): Statement<void> =>
  new Statement(text, values, "nothing", () => {});

/**
 * A statement for each of some rows, none of which conflicts with another one: `VALUES ($1::text, $2::bigint)`.
 * PostgreSQL gets one for all.
 */
export const changedEach = (text: string, all: readonly (readonly unknown[])[]): Statement<void> =>
  new Statement(text, all, "each", () => {});

/** Names, and numbers that are counted under them. */
type Counted = readonly [names: readonly string[], numbers: readonly number[]];

/**
 * The rows of counts, in which each name is once: its numbers are summed. They are in order, so that two servers do not
 * wait for each other.
 */
export function summed(counts: readonly Counted[]): (string | number)[][] {
  const byName = [...Map.groupBy(counts, ([names]) => JSON.stringify(names))].sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return byName.map(([, [[names, numbers] = [[], []], ...others]]) => [
    ...names,
    ...numbers.map((number, index) => others.reduce((sum, [, more]) => sum + (more[index] ?? 0), number)),
  ]);
}

/** Runs a query on what runs a statement at once. */
export function runSync<Result>(query: Query<Result>, run: (statement: Statement<unknown>) => unknown): Result {
  let step = query.next();
  while (!step.done) step = query.next(run(step.value));
  return step.value;
}

/** Runs a query on what runs a statement. */
export async function runAsync<Result>(
  query: Query<Result>,
  run: (statement: Statement<unknown>) => Promise<unknown>,
): Promise<Result> {
  let step = query.next();
  while (!step.done) step = query.next(await run(step.value));
  return step.value;
}
