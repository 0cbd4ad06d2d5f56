import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { describeError, OperatorError, systemCode } from "../../errors.ts";
import { LISTEN_CURSOR } from "../../events/listening.ts";
import { makeDir, replaceFile } from "../../lib/files.ts";
import { NAME } from "../../lib/name.ts";
import { AlreadyServedError, lockDataDir } from "../../sqlite/data-dir.ts";

/** How far a listener has come. Only one process at a time has the listener of a name. */
export interface ListenerState {
  /** The cursor of an earlier run; null if there was none. */
  cursor: string | null;
  save(cursor: string): void;
  release(): void;
}

/** The folder of programs' states of this user (XDG Base Directory Specification). */
function stateFolder({ XDG_STATE_HOME: xdg }: NodeJS.ProcessEnv): string {
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "authserve");
  return join(homedir(), ".local", "state", "authserve");
}

/**
 * Opens the state of a listener. `origin` is what it listens to: the cursor of another store would be wrong there. With
 * `isAnew` an earlier cursor does not count. Throws {@link OperatorError}.
 */
export function openListenerState(name: string, origin: string, isAnew: boolean): ListenerState {
  if (!NAME.test(name))
    throw new OperatorError({ found: "--name is not usable", remedy: "give small letters, digits and -, e.g. laptop" });
  const folder = join(stateFolder(process.env), "listen", name);
  const release = lock(name, folder);
  const file = join(folder, "cursor.json");
  try {
    return {
      cursor: isAnew ? null : readCursor(name, file, origin),
      save(cursor) {
        try {
          replaceFile(file, `${JSON.stringify({ origin, cursor })}\n`, { mode: 0o600, flush: false });
        } catch (error) {
          throw unusable(folder, error);
        }
      },
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

function lock(name: string, folder: string): () => void {
  try {
    makeDir(folder);
    return lockDataDir(folder);
  } catch (error) {
    if (!(error instanceof AlreadyServedError)) throw unusable(folder, error);
    const found = `Another listener has the name ${name}`;
    throw new OperatorError({ found, remedy: "end it, or give this one another --name" }, 1);
  }
}

function unusable(folder: string, error: unknown): OperatorError {
  const found = `${folder} cannot be used (${systemCode(error) || describeError(error)})`;
  return new OperatorError({ found, remedy: "let this user write there, or set XDG_STATE_HOME to another folder" }, 1);
}

function readCursor(name: string, file: string, origin: string): string | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw unusable(file, error);
  }
  const saved = parse(text);
  if (saved === null) throw new OperatorError({ found: `${file} is damaged`, remedy: BEGIN_ANEW });
  if (saved.origin === origin) return saved.cursor;
  const found = `The listener ${name} has listened to ${saved.origin} before`;
  throw new OperatorError({ found, remedy: `give another --name, or ${BEGIN_ANEW}` });
}

const BEGIN_ANEW = "begin anew with --since 1h or --from-start";

function parse(text: string): { origin: string; cursor: string } | null {
  try {
    const { origin, cursor } = JSON.parse(text);
    return typeof origin === "string" && LISTEN_CURSOR.test(cursor) ? { origin, cursor } : null;
  } catch {
    return null;
  }
}
