import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { completionScript } from "../../src/cli/completion.ts";
import { createProgram } from "../../src/cli/program.ts";
import { SERVICE_CONFIGURATION, SERVICE_SETTINGS } from "../../src/cli/service-files.ts";
import { ROOT } from "../build/bundle.ts";
import { componentsOf } from "../build/program.ts";
import type { Target } from "../build/targets.ts";
import { documents, manual } from "./archives.ts";
import type { Release } from "./release.ts";

/** A file that a package installs. */
export interface SystemFile {
  /** The path on the system, without the first slash. */
  path: string;
  content: string | Buffer;
  mode?: number;
}

/** Files that belong to the operator once they are installed. */
export const CONFFILES = ["etc/authserve/authserve.conf", "etc/authserve/authserve.yaml"];

const UNITS = ["authserve.service", "authserve-backup.service", "authserve-backup.timer"];

/** The files of a package for Linux, besides the executable. They differ by distribution only in where zsh looks. */
export function systemFiles(target: Target, zshFolder: string): SystemFile[] {
  const program = createProgram();
  return [
    { path: "usr/bin/service-authserve", content: inUsr(deployed("service-authserve")), mode: 0o755 },
    ...UNITS.map((name) => ({ path: `usr/lib/systemd/system/${name}`, content: inUsr(deployed(name)) })),
    { path: "usr/share/man/man1/authserve.1.gz", content: gzip(manual()) },
    { path: "usr/share/bash-completion/completions/authserve", content: completionScript("bash", program) },
    { path: `${zshFolder}/_authserve`, content: completionScript("zsh", program) },
    { path: "usr/share/fish/vendor_completions.d/authserve.fish", content: completionScript("fish", program) },
    // It may hold secrets of senders.
    { path: "etc/authserve/authserve.conf", content: SERVICE_SETTINGS, mode: 0o600 },
    { path: "etc/authserve/authserve.yaml", content: SERVICE_CONFIGURATION },
    { path: "usr/share/doc/authserve/copyright", content: copyright(target) },
    ...documents()
      .filter(({ path }) => path !== "LICENSE")
      .map(({ path, content }) => ({ path: `usr/share/doc/authserve/${path}`, content })),
  ];
}

/** The executable of a package. */
export function executableFile(release: Release, target: Target): SystemFile {
  return { path: "usr/bin/authserve", content: readFileSync(release.executableOf(target)), mode: 0o755 };
}

/** Writes the files and empty folders of a package below a new folder. All have the time of the commit. */
export function stage(
  folder: string,
  { time }: Release,
  files: readonly SystemFile[],
  emptyFolders: readonly string[] = [],
): void {
  rmSync(folder, { recursive: true, force: true });
  for (const { path, content, mode = 0o644 } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    chmodSync(join(folder, path), mode);
  }
  for (const path of emptyFolders) mkdirSync(join(folder, path), { recursive: true });
  execFileSync("find", [folder, "-type", "d", "-exec", "chmod", "755", "{}", "+"]);
  execFileSync("find", [folder, "-exec", "touch", "--no-dereference", `--date=@${time}`, "{}", "+"]);
}

/** A file in the compressed form of gzip, without a time. */
export function gzip(content: string | Buffer): Buffer {
  return gzipSync(content, { level: 9 });
}

function deployed(name: string): string {
  return readFileSync(join(ROOT, "deploy", name), "utf8");
}

/** Packages install into /usr, and what is in /usr/local is the operator's. */
function inUsr(text: string): string {
  return text
    .replaceAll("/usr/local/bin/", "/usr/bin/")
    .replace(/^# \/etc\/systemd\/system\/([\w-]+\.\w+).*\n/, "# Change it with: systemctl edit $1\n");
}

/** The licence of authserve, and which packages are in the executable, which has their full licences too. */
function copyright(target: Target): string {
  const packages = componentsOf(target).map(({ name, version, license }) => `${name} ${version}: ${license}\n`);
  const own = readFileSync(join(ROOT, "LICENSE"), "utf8");
  const intro = `/usr/bin/authserve holds these packages. Their licences: authserve licenses --full
On Debian, the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.`;
  return `${own}\n${intro}\n\n${packages.join("")}`;
}
