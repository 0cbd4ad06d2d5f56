import { OperatorError } from "../errors.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const BACKSPACE = ["\u0008", "\u007f"];

/** What came behind the end of an answer, e.g. two lines that were pasted. */
let typedAhead = "";
/** Its end was a CR; a LF that comes next, also in a later read, belongs to it. */
let endedByCr = false;

// Node itself gives the terminal back when SIGINT or SIGTERM ends it.
const ENDINGS = ["SIGHUP", "SIGQUIT"] as const;

/** Asks on the terminal without echo. Throws {@link OperatorError} when the person breaks off. */
export function askHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  // Before the question is there: what is typed on seeing it must not be echoed.
  const giveBack = takeTerminal(() => stderr.write(question));
  stdin.setEncoding("utf8");
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const onData = (text: string) => {
      const characters = [...(endedByCr ? text.replace(/^\n/, "") : text)];
      if (text !== "") endedByCr = false;
      for (const [index, character] of characters.entries()) {
        if (character === "\r" || character === "\n" || character === CTRL_D) {
          typedAhead = characters.slice(index + 1).join("");
          endedByCr = character === "\r";
          return finish(() => resolve(typed.join("")));
        }
        if (character === CTRL_C) return finish(() => reject(new OperatorError("Broken off: nothing was changed", 1)));
        if (character === CTRL_U) typed = [];
        else if (BACKSPACE.includes(character)) typed = typed.slice(0, -1);
        else typed.push(character);
      }
    };
    function finish(end: () => void): void {
      stdin.off("data", onData);
      giveBack();
      stdin.pause();
      stderr.write("\n");
      end();
    }
    stdin.on("data", onData);
    stdin.resume();
    stderr.write(question);
    const ahead = typedAhead;
    typedAhead = "";
    onData(ahead);
  });
}

/**
 * Takes the echo from the terminal, also when the process goes on after a stop, in which the shell had the terminal:
 * `onGoingOn` is called then. Returns what gives it back, which a signal that ends the process does too.
 */
function takeTerminal(onGoingOn: () => void): () => void {
  const { stdin } = process;
  const takeAgain = () => {
    // Off first: Node believes that it is on.
    stdin.setRawMode(false).setRawMode(true);
    onGoingOn();
  };
  const giveBack = () => {
    process.off("SIGCONT", takeAgain);
    for (const signal of ENDINGS) process.off(signal, end);
    stdin.setRawMode(false);
  };
  const end = (signal: NodeJS.Signals) => {
    // A terminal that is gone cannot be given back.
    stdin.on("error", () => {});
    giveBack();
    process.kill(process.pid, signal);
  };
  stdin.setRawMode(true);
  process.on("SIGCONT", takeAgain);
  for (const signal of ENDINGS) process.on(signal, end);
  return giveBack;
}

/** Reads standard input to its end as UTF-8, without one final line end. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(Buffer.concat(chunks))
      .replace(/\r?\n$/, "");
  } catch {
    throw new OperatorError("Standard input is not UTF-8");
  }
}
