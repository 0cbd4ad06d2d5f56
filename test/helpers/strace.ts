import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Cleanup } from "./temp-dir.ts";
import { until } from "./until.ts";

interface Faults {
  /** The number of calls changed so far. */
  count(): number;
  /** Detaches from the process. */
  end(): Promise<void>;
}

/** Makes system calls of a process and its threads fail, with the syntax of strace's `-e inject`. */
export async function injectFaults(context: Cleanup, pid: number, fault: string): Promise<Faults> {
  const [call] = fault.split(":");
  const strace = spawn("strace", ["-f", "-p", String(pid), "-e", `trace=${call}`, "-e", `inject=${fault}`]);
  context.after(() => void strace.kill("SIGKILL"));
  let output = "";
  strace.stderr.on("data", (chunk: Buffer) => {
    output += chunk;
  });
  await until(() => output.includes(`Process ${pid} attached`));
  return {
    count: () => output.split(/\((?:INJECTED|DELAYED)\)/).length - 1,
    async end() {
      strace.kill("SIGINT");
      await once(strace, "close");
    },
  };
}
