/**
 * A statement of a store, written once for both databases: in the form of PostgreSQL, which the driver of SQLite
 * translates. In a method of several statements, `yield*` runs it and has its result.
 */
export class Statement<Result> {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly wants: "rows" | "count";
  readonly read: (answer: never) => Result;

  constructor(text: string, values: readonly unknown[], wants: "rows" | "count", read: (answer: never) => Result) {
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

/** A store whose methods are statements, or queries of several. */
export type QueryPort<Port> = {
  [Method in keyof Port]: Port[Method] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Statement<Result> | Query<Result>
    : never;
};

/** The rows of a statement. */
export const rows = <Row>(text: string, ...values: unknown[]): Statement<Row[]> =>
  new Statement(text, values, "rows", (answer: Row[]) => answer);

/** The first row of a statement; undefined without one. */
export const row = <Row>(text: string, ...values: unknown[]): Statement<Row | undefined> =>
  rows<Row>(text, ...values).as(([first]) => first);

/** The number of rows that a statement has changed. */
export const change = (text: string, ...values: unknown[]): Statement<number> =>
  new Statement(text, values, "count", (answer: number) => answer);

/** A statement whose result is not needed. */
export const changed = (text: string, ...values: unknown[]): Statement<void> => change(text, ...values).as(() => {});

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
