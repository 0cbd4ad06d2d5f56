import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "./back-end.ts";
import { startProgram } from "./command.ts";
import { isWell, until } from "./until.ts";
import { workingDir } from "./working-dir.ts";

export const needsPrometheus = () =>
  needs(
    "Prometheus",
    () => ["prometheus", "promtool"].every((name) => spawnSync(name, ["--version"]).error === undefined),
    "prometheus or promtool is not on the path (Debian: apt-get install prometheus)",
  );

/** A series with its newest value. */
interface Series {
  metric: Record<string, string>;
  value: number;
}

interface LoadedRule {
  name: string;
  type: "alerting" | "recording";
  /** `unknown` before its first evaluation. */
  health: "unknown" | "ok" | "err";
  lastError?: string;
}

export interface PrometheusProcess {
  /** Evaluates a query now. Throws with the fault if it has one. */
  query(expr: string): Promise<Series[]>;
  /** Evaluates a query that has a single value. */
  valueOf(expr: string): Promise<number>;
  rules(): Promise<LoadedRule[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Reply {
  status: "success" | "error";
  error?: string;
  data: unknown;
}

// A scrape that takes longer fails.
const INTERVAL = "1s";

/**
 * Starts a real Prometheus that loads these files of rules and scrapes a server as a job. It begins to scrape after 5
 * s.
 */
export async function startPrometheus(job: string, port: number, ruleFiles: string[]): Promise<PrometheusProcess> {
  const dir = workingDir();
  const file = join(dir, "prometheus.yml");
  const config = {
    global: { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: INTERVAL },
    rule_files: ruleFiles,
    scrape_configs: [{ job_name: job, static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
  };
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config));
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(dir, "data")}`,
    "--web.listen-address=127.0.0.1:0",
  ];
  const { child, exited, stderr } = startProgram("prometheus", args, { dir });
  let url = "";

  async function ask(path: string, parameters: Record<string, string> = {}): Promise<unknown> {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, error, data } = (await response.json()) as Reply;
    if (status !== "success") throw new Error(`${JSON.stringify(parameters)}: ${error}`);
    return data;
  }

  const prometheus: PrometheusProcess = {
    async query(expr) {
      const { result } = (await ask("query", { query: expr })) as {
        result: { metric: Series["metric"]; value: [number, string] }[];
      };
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1].replace("Inf", "Infinity")) }));
    },
    async valueOf(expr) {
      return (await prometheus.query(expr))[0]?.value ?? Number.NaN;
    },
    async rules() {
      const { groups } = (await ask("rules")) as { groups: { rules: LoadedRule[] }[] };
      return groups.flatMap(({ rules }) => rules);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };

  try {
    url = await until(() => {
      if (child.exitCode !== null) throw new Error(`prometheus ended: ${stderr()}`);
      const [, address] = / msg="Listening on" address=(\S+)/.exec(stderr()) ?? [];
      return address && `http://${address}`;
    });
    await until(() => isWell(() => ask("query", { query: "vector(1)" })));
  } catch (error) {
    await prometheus[Symbol.asyncDispose]();
    throw error;
  }
  return prometheus;
}
