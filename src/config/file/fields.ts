import { resolve } from "node:path";
import * as v from "valibot";
import { parsed } from "../fields.ts";
import { becomes, list } from "./shape.ts";

export const TEXT = v.string("expected text");

/** Text of a form. */
export const textLike = (form: RegExp, expectation: string) =>
  v.pipe(v.string(expectation), v.regex(form, expectation));

/** A list with at least one item, which `expected` names. */
export const listOf = <const Item extends v.GenericSchema>(
  item: Item,
  expected: string,
  expectation = "expected a list",
) => v.pipe(list(item, expectation), v.minLength(1, `expected at least one ${expected}`));

/** The name of a header. */
export const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** A program and its arguments. */
export const COMMAND = v.pipe(
  list(textLike(/^[^\0]*$/, "expected text without U+0000"), "expected a program and its arguments"),
  v.check(([program]) => program !== undefined && program !== "", "expected a program and its arguments"),
);

/** Makes a program with a `/` relative to the folder of the file. */
export const IN_FOLDER = becomes(
  ([program = "", ...words]: string[], { context: { folder } }): [string, ...string[]] => [
    program.includes("/") ? resolve(folder, program) : program,
    ...words,
  ],
);

/** A key that may be left out. Its meaning is for the JSON Schema. */
export const key = <const Schema extends v.GenericSchema>(schema: Schema, meaning: string) =>
  v.pipe(v.optional(schema), v.description(meaning));

/** A key with a default, which its description names. */
export const keyOr = <const Schema extends v.GenericSchema>(
  schema: Schema,
  standard: v.InferInput<Schema> & (string | number),
  meaning: string,
) => v.pipe(v.optional(schema, standard), v.description(`${meaning} Default: \`${standard}\`.`));

/** A field of text that may also be written as a number of YAML. */
export const numberOrText = <Output>(field: v.GenericSchema<string, Output>, expectation = "expected a number") =>
  v.pipe(v.union([v.string(), v.number()], expectation), v.transform(String), field);

export const NAME_EXPECTATION = "expected a name of 1 to 64 small letters, digits and -, e.g. shop";

/** How many of something, on average per second. `seconds`: the time in which as many may come at once. */
interface Rate {
  perSecond: number;
  seconds: number;
}

const SECONDS = { s: 1, m: 60, h: 3600 };

/** A rate, such as `100/s`. `what` names what it bounds. */
export const rateOf = (what: string) =>
  parsed((text): Rate | null => {
    const [, count = "", unit] = /^([1-9][0-9]{0,6})\/([smh])$/.exec(text) ?? [];
    if (unit === undefined) return null;
    const seconds = SECONDS[unit as keyof typeof SECONDS];
    return { perSecond: Number(count) / seconds, seconds };
  }, `expected a number of ${what} per second, minute or hour, e.g. 100/s`);
