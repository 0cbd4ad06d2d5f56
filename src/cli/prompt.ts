import { OperatorError } from "../errors.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const BACKSPACE = ["\u0008", "\u007f"];

/** Input after the end of an answer, e.g. the second of two pasted lines. */
let typedAhead = "";
/** The last answer ended with CR. A LF that follows, even in a later read, belongs to it. */
let endedByCr = false;

// Node itself restores the terminal when SIGINT or SIGTERM ends the process.
const FATAL_SIGNALS = ["SIGHUP", "SIGQUIT"] as const;

/** Asks for a line, on the terminal with echo. Throws {@link OperatorError} if input ends. */
export function ask(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stdin.setEncoding("utf8");
  stderr.write(question);
  return new Promise((resolve, reject) => {
    let typed = "";
    const onData = (text: string) => {
      typed += text;
      const end = typed.indexOf("\n");
      if (end === -1) return;
      typedAhead = typed.slice(end + 1);
      finish(() => resolve(typed.slice(0, end).trim()));
    };
    const onEnd = () => finish(() => reject(new OperatorError("Cancelled. Nothing was changed.", 1)));
    function finish(end: () => void): void {
      stdin.off("data", onData);
      stdin.off("end", onEnd);
      stdin.pause();
      // A pipe that stays open would keep the process alive. A file has no such method.
      stdin.unref?.();
      end();
    }
    stdin.on("data", onData);
    stdin.on("end", onEnd);
    stdin.ref?.();
    stdin.resume();
  });
}

/** Asks on the terminal without echo. Throws {@link OperatorError} on Ctrl+C. */
export function askHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  // Echo is off before the question appears, so that nothing typed after it is shown.
  const restoreEcho = disableEcho(() => stderr.write(question));
  stdin.setEncoding("utf8");
  return new Promise((resolve, reject) => {
    let typed: readonly string[] = [];
    const onData = (text: string) => {
      const characters = [...(endedByCr ? text.replace(/^\n/, "") : text)];
      if (text !== "") endedByCr = false;
      for (const [index, character] of characters.entries()) {
        if (character === "\r" || character === "\n" || character === CTRL_D) {
          typedAhead = characters.slice(index + 1).join("");
          endedByCr = character === "\r";
          return finish(() => resolve(typed.join("")));
        }
        if (character === CTRL_C) return finish(() => reject(new OperatorError("Cancelled. Nothing was changed.", 1)));
        typed = withTyped(typed, character);
      }
    };
    function finish(end: () => void): void {
      stdin.off("data", onData);
      restoreEcho();
      stdin.pause();
      stderr.write("\n");
      end();
    }
    stdin.on("data", onData);
    // An earlier question has let the process end without it.
    stdin.ref?.();
    stdin.resume();
    stderr.write(question);
    const ahead = typedAhead;
    typedAhead = "";
    onData(ahead);
  });
}

/** What is typed after one more character, which may remove some. */
function withTyped(typed: readonly string[], character: string): readonly string[] {
  if (character === CTRL_U) return [];
  return BACKSPACE.includes(character) ? typed.slice(0, -1) : [...typed, character];
}

/**
 * Turns off the terminal's echo. After a stop (Ctrl+Z), the shell has turned it on: it is turned off again and
 * `onContinue` is called. Returns a function that turns it on. A signal that ends the process does so too.
 */
function disableEcho(onContinue: () => void): () => void {
  const { stdin } = process;
  const disableAgain = () => {
    // Off first: Node believes that raw mode is still on.
    stdin.setRawMode(false).setRawMode(true);
    onContinue();
  };
  const restore = () => {
    process.off("SIGCONT", disableAgain);
    for (const signal of FATAL_SIGNALS) process.off(signal, end);
    stdin.setRawMode(false);
  };
  const end = (signal: NodeJS.Signals) => {
    // The terminal may be gone.
    stdin.on("error", () => {});
    restore();
    process.kill(process.pid, signal);
  };
  stdin.setRawMode(true);
  process.on("SIGCONT", disableAgain);
  for (const signal of FATAL_SIGNALS) process.on(signal, end);
  return restore;
}

/** Reads all of standard input as UTF-8, and removes one final line end. */
export async function readStdin(): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(await readStdinBytes())
      .replace(/\r?\n$/, "");
  } catch {
    throw new OperatorError("Standard input is not UTF-8");
  }
}

/** Reads all of standard input. */
export async function readStdinBytes(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
