import packageJson from "../../package.json" with { type: "json" };
import { EVALUATE } from "../platform/own-process.ts";

/** Runs the process's command line and sets its exit code. */
export async function run(): Promise<void> {
  const argv = process.argv.slice(2);
  // Scripts ask for it often, and it needs nothing else.
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
    process.stdout.write(`${packageJson.version}\n`);
    return;
  }
  if (argv[0] === EVALUATE && process.connected) {
    // The server is gone.
    process.on("disconnect", () => process.exit());
    return (await import("./evaluate.ts")).evaluate();
  }
  const isServing = argv[0] === "serve";
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // EPIPE: the reader of a pipe may leave early, as `head` does. The exit code still tells the result. A server goes
    // on without its log.
    if (error.code === "EPIPE" || isServing) return;
    process.stderr.write(`error: cannot write to standard output (${error.code})\n`);
    process.exit(1);
  });
  // A message that cannot be written must not stop the command.
  process.stderr.on("error", () => {});
  // By default Node opens its debugger to every user of this machine, who could read the secrets and run code.
  process.on("SIGUSR1", () => {});
  process.on("uncaughtException", (error) => {
    process.stderr.write(`error: ${error.stack}\n`);
    process.exit(1);
  });
  process.exitCode = await (await import("./command-line.ts")).runCommandLine(argv);
  // A failed command, or a server, may leave a handle open that keeps the process alive. A server does not wait for
  // readers.
  if (isServing) process.exit();
  if (process.exitCode === 0) return;
  await Promise.all([process.stdout, process.stderr].map(isWritten));
  process.exit();
}

/** Resolves when all earlier output is written. A pipe accepts no more than its reader has room for. */
function isWritten(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

if (import.meta.main) void run();
