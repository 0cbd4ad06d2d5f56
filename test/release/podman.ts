import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needs } from "../helpers/back-end.ts";
import { type Finished, runProgram } from "../helpers/command.ts";
import { until } from "../helpers/until.ts";

const hasProgram = (name: string) => spawnSync(name, ["--version"], { stdio: "ignore" }).error === undefined;

/** What builds and runs images. Debian's crun does not run where cgroups are in hybrid mode, so runc is used. */
export const needsContainers = () =>
  needs(
    "the image",
    () => process.getuid?.() === 0 && ["buildah", "podman", "runc", "skopeo"].every(hasProgram),
    "it needs root, buildah, podman, runc and skopeo (Debian: apt-get install buildah podman runc skopeo)",
  );

// Podman raises these limits, which is refused to a root without CAP_SYS_RESOURCE.
const LIMITS = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"];

/** The strictest surroundings: a read-only root without a writable /tmp, and no capabilities. */
const LOCKED = ["--read-only", "--read-only-tmpfs=false", "--cap-drop", "all", "--security-opt", "no-new-privileges"];

/** Podman with images, containers and volumes of its own. */
export class Podman implements AsyncDisposable {
  readonly #dir = mkdtempSync(join(tmpdir(), "authserve-podman-"));

  /** Ends and removes everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("rm", "--all", "--force", "--time", "0");
    // Podman mounts the folder of its images onto itself, and leaves it so. A process that cleans up may still use it.
    const mounted = `${this.#dir}/storage/overlay`;
    await until(() => {
      spawnSync("umount", [mounted]);
      return spawnSync("mountpoint", ["-q", mounted]).status !== 0;
    });
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Runs a command of Podman until it ends. */
  run(...args: string[]): Promise<Finished> {
    return this.runWith("", ...args);
  }

  /** Runs a command of Podman with text on standard input. */
  runWith(input: string, ...args: string[]): Promise<Finished> {
    const dirs = ["--root", `${this.#dir}/storage`, "--runroot", `${this.#dir}/run`, "--tmpdir", `${this.#dir}/tmp`];
    // Without systemd Podman reports that it starts no timer for the health check.
    const options = [...dirs, "--runtime", "runc", "--log-level", "fatal"];
    return runProgram("podman", [...options, ...args], { dir: this.#dir, input });
  }

  /** Runs a command that must succeed, and returns what it prints. */
  async ok(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    assert.equal(code, 0, `podman ${args.join(" ")}\n${stdout}${stderr}`);
    return stdout.trim();
  }

  /** The arguments of `podman run` before those of a test: locked down, and on the network of this machine. */
  static readonly run = ["run", ...LIMITS, ...LOCKED, "--network", "host"];

  /** The same without the lock. */
  static readonly runOpen = ["run", ...LIMITS, "--network", "host"];
}
