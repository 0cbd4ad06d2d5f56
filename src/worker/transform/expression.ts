import { parseExactJson } from "../../lib/exact-json.ts";
import { keepDigits } from "./exact.ts";
import { loadJsonata } from "./load-jsonata.ts";

/** What an expression is evaluated with: the content of an event as `$`, and the event as `$event`. */
export interface TransformInput {
  /** Text of JSON. Null if the content cannot be read: then `$` is nothing. */
  json: string | null;
  event: { id: string; type: string; source: string; receivedAt: string; headers: Readonly<Record<string, string>> };
}

/** What is sent instead of the payload. */
export interface TransformOutput {
  payload: Uint8Array;
  contentType: string;
}

/** What is wrong with the syntax of an expression; null if nothing is. */
export function syntaxFaultOf(expression: string): string | null {
  try {
    loadJsonata()(expression);
    return null;
  } catch (error) {
    const { message, position } = error as { message?: string; position?: number };
    return `${message ?? "the expression cannot be read"}${position === undefined ? "" : ` (at character ${position})`}`;
  }
}

/** Prepares an expression, whose syntax is right. The result throws with a message without values of the input. */
export function compileExpression(expression: string): (input: TransformInput) => Promise<TransformOutput> {
  const compiled = loadJsonata()(expression);
  keepDigits(compiled, expression);
  return async ({ json, event }) => {
    let result: unknown;
    try {
      result = await compiled.evaluate(json === null ? undefined : parseExactJson(json), { event });
    } catch (error) {
      throw new Error(reasonOf(error));
    }
    return outputOf(result);
  };
}

function outputOf(result: unknown): TransformOutput {
  if (typeof result === "string")
    return { payload: Buffer.from(result.toWellFormed()), contentType: "text/plain; charset=utf-8" };
  const text = jsonOf(result);
  if (text === undefined) throw new Error("the expression gives nothing that JSON can have");
  return { payload: Buffer.from(text.toWellFormed()), contentType: "application/json" };
}

function jsonOf(result: unknown): string | undefined {
  try {
    return JSON.stringify(result);
  } catch {
    return undefined;
  }
}

/** Messages that name types, operators and functions of the expression, and no values. */
const WITHOUT_VALUES = /^(?:T04\d\d|T100[5-8]|T200[1-8]|T2010)$/;

function reasonOf(error: unknown): string {
  const { code, message = "", position, name = "error" } = error as Partial<Record<string, string>>;
  const where = position === undefined ? "" : ` at character ${position}`;
  if (code === undefined) return `the expression failed with a ${name}`;
  return `the expression failed${where}: ${code}${WITHOUT_VALUES.test(code) ? `, ${message}` : " of jsonata"}`;
}
