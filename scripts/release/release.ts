import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { ROOT } from "../build/bundle.ts";
import type { Target } from "../build/targets.ts";

/** A file of a release. */
interface ReleaseFile {
  name: string;
  sha256: string;
  bytes: number;
}

/** A release while it is built. Its parts depend on the commit only, so that two builds of it are equal. */
export class Release {
  /** The version of `package.json`, the only place that has it. */
  readonly version = packageJson.version;
  /** The version as Debian and RPM write it: a pre-release is older than its release. */
  readonly packageVersion = this.version.replaceAll("-", "~");
  readonly commit = git("rev-parse", "HEAD");
  /** Whether tracked files differ from the commit. */
  readonly isModified = git("status", "--porcelain", "--untracked-files=no") !== "";
  /** The time of the commit, in seconds since 1970. It is the time of every file in a package. */
  readonly time = Number(git("log", "-1", "--format=%ct"));
  /** The folder that gets the files. */
  readonly dist: string;
  /** A folder that is removed at the end. */
  readonly scratch: string;
  readonly targets: readonly Target[];
  /** The executable of each target. */
  readonly executables = new Map<Target, string>();
  /** The key of minisign that verifies the checksums. Null if they are not signed. */
  readonly publicKey: string | null;
  readonly #names: string[] = [];

  constructor(parts: { dist: string; scratch: string; targets: readonly Target[]; publicKey?: string | undefined }) {
    this.dist = parts.dist;
    this.scratch = parts.scratch;
    this.targets = parts.targets;
    this.publicKey = parts.publicKey ?? null;
  }

  /** The executable of a target. */
  executableOf(target: Target): string {
    const file = this.executables.get(target);
    if (file === undefined) throw new Error(`the executable for ${target.name} was not built`);
    return file;
  }

  /** Writes a file of the release. */
  write(name: string, content: string | Buffer): void {
    const file = join(this.dist, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    this.add(name);
  }

  /** Adds a file that is in `dist` already. */
  add(name: string): void {
    this.#names.push(name);
  }

  /** The files so far, sorted by name. */
  files(): ReleaseFile[] {
    return this.#names.toSorted().map((name) => {
      const path = join(this.dist, name);
      return { name, sha256: sha256Of(path), bytes: statSync(path).size };
    });
  }
}

/** The SHA-256 of a file, in hex. */
export function sha256Of(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function git(...args: string[]): string {
  return execFileSync("git", ["-C", ROOT, ...args], { encoding: "utf8" }).trim();
}
