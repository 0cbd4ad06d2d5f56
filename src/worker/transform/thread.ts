import { parentPort } from "node:worker_threads";
import { compileExpression } from "./expression.ts";
import { loadJsonata } from "./load-jsonata.ts";
import type { TransformAnswer, TransformRequest } from "./messages.ts";

const MAX_COMPILED = 100;

/** Runs in a thread: evaluates one expression after another. */
function run(): void {
  const compiled = new Map<string, ReturnType<typeof compileExpression>>();
  const send = (answer: TransformAnswer) => parentPort?.postMessage(answer);
  // When an expression fails, some of its parts may still be evaluated. They belong to it, and have its bounds.
  const sendAtEnd = (answer: TransformAnswer) => setImmediate(send, answer);

  function compiledOf(expression: string) {
    const known = compiled.get(expression) ?? compileExpression(expression);
    if (compiled.size >= MAX_COMPILED) compiled.clear();
    compiled.set(expression, known);
    return known;
  }

  parentPort?.on("message", async ({ expression, ...input }: TransformRequest) => {
    try {
      sendAtEnd(await compiledOf(expression)(input));
    } catch (error) {
      sendAtEnd({ error: error instanceof Error ? error.message : "the expression failed" });
    }
  });
  loadJsonata();
  send("ready");
}

run();
