import { type Context, createContext, Script } from "node:vm";

const script = new Script("run()");
let context: Context | undefined;

/**
 * Runs a function on this thread. Returns false if it did not end in time: a loop or a regular expression is then
 * interrupted, and no `finally` runs.
 */
export function endsWithin(timeoutMs: number, run: () => void): boolean {
  context ??= createContext({});
  context.run = run;
  try {
    script.runInContext(context, { timeout: timeoutMs });
    return true;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
    throw error;
  } finally {
    context.run = undefined;
  }
}
