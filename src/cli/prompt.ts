import { OperatorError } from "../errors.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const BACKSPACE = ["\u0008", "\u007f"];

/** What came behind the end of an answer, e.g. two lines that were pasted. */
let typedAhead = "";

/** Asks on the terminal without echo. Throws {@link OperatorError} when the person breaks off. */
export function askHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  // Before the question is there: what is typed on seeing it must not be echoed.
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const onData = (text: string) => {
      const characters = [...text];
      for (const [index, character] of characters.entries()) {
        if (character === "\r" || character === "\n" || character === CTRL_D) {
          typedAhead = characters
            .slice(index + 1)
            .join("")
            .replace(/^\n/, "");
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
      stdin.setRawMode(false);
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
