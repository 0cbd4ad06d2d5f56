import { hash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { describeError, exitCodeOf, OperatorError, systemCode } from "../errors.ts";
import { replaceFile } from "../lib/files.ts";
import { type AddonDir, addonDirs, addonFile, prepareAddonDir } from "./addon-dir.ts";
import { readAsset } from "./assets.ts";
import type { AddonReport } from "./checkout.ts";

/** The native add-ons of this platform. The bundler defines it. */
declare const ADDONS: Record<string, { sha256: string; bytes: number }>;

/**
 * Loads a native add-on. The operating system loads it from a file only, so a missing file is unpacked. Its content is
 * verified before it runs. Throws {@link OperatorError} when no directory is usable, or the system is too old.
 */
export function loadAddon(name: string): unknown {
  const loaded = load(name);
  if ("exports" in loaded) return loaded.exports;
  const { reasons, remedy, exitCode } = loaded;
  throw new OperatorError(["The native add-ons cannot be loaded:", ...reasons, remedy].join("\n  "), exitCode);
}

const OTHER_DIR = "set ADDON_DIR to a directory that only this user can write, on a disk with space and without noexec";
const OTHER_SYSTEM =
  "this system is too old: authserve needs glibc 2.34 and the libstdc++ of GCC 11, or newer, e.g. Debian 12, Ubuntu 22.04 or RHEL 9";

/** An add-on, or why it cannot be loaded from any directory. */
type Loaded = { exports: unknown; dir: string } | { reasons: string[]; remedy: string; exitCode: 1 | 2 };

function load(name: string): Loaded {
  const reasons: string[] = [];
  let exitCode: 1 | 2 = 2;
  for (const candidate of addonDirs()) {
    try {
      const file = unpack(name, candidate);
      const loaded = { exports: {} };
      process.dlopen(loaded, file);
      return { ...loaded, dir: candidate.dir };
    } catch (error) {
      const reason = describeError(error);
      if (isTooNew(error)) return { reasons: [reason], remedy: OTHER_SYSTEM, exitCode: 2 };
      if (exitCodeOf(error) === 1) exitCode = 1;
      reasons.push(`${candidate.dir} (${candidate.from}): ${reason}`);
    }
  }
  return { reasons, remedy: OTHER_DIR, exitCode };
}

/** Whether this system lacks a library, version or symbol that the add-on needs, by the messages of glibc's loader. */
function isTooNew(error: unknown): boolean {
  const wants = /version `[^']+' not found|undefined symbol|^lib[^/:]+: cannot open shared object file/;
  return error instanceof Error && systemCode(error) === "ERR_DLOPEN_FAILED" && wants.test(error.message);
}

/** Unpacks an add-on unless its file is there with the right content. Returns its path. */
function unpack(name: string, { dir }: AddonDir): string {
  const { sha256 } = known(name);
  const file = addonFile(prepareAddonDir(dir), name, sha256);
  const problem = problemOf(name, file);
  if (problem === null) return file;
  if (problem !== "is missing") process.stderr.write(`warning: ${file} ${problem}: it was replaced\n`);
  replaceFile(file, readAsset(name), { mode: 0o600, flush: true });
  return file;
}

/** Verifies the unpacked add-ons. If none is broken, loads each, because only loading shows that it works. */
export function reportAddons(): AddonReport {
  const files = addonDirs()
    .filter(({ dir }) => mayBeOurs(dir))
    .flatMap(({ dir }) =>
      Object.entries(ADDONS).map(([name, { sha256 }]) => ({ name, dir, file: addonFile(dir, name, sha256) })),
    );
  const broken = files.flatMap(({ name, file }) => {
    const problem = isThere(file) ? problemOf(name, file) : null;
    return problem === null ? [] : [{ found: `${file} ${problem}`, remedy: "remove it: it will be unpacked again" }];
  });
  const failed =
    broken.length > 0
      ? undefined
      : Object.keys(ADDONS)
          .map(load)
          .find((loaded) => "reasons" in loaded);
  const place = files.find(({ file }) => isThere(file))?.dir ?? "not unpacked";
  if (failed === undefined) return { place, faults: broken };
  return { place, faults: [{ found: `cannot be loaded: ${failed.reasons.join("; ")}`, remedy: failed.remedy }] };
}

/** False for another user's directory, e.g. when root inspects a service: its add-ons are never loaded from there. */
function mayBeOurs(dir: string): boolean {
  return !process.getuid || !isThere(dir) || lstatSync(dir).uid === process.getuid();
}

/** False also where this user may not look: its add-ons cannot be there. */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** The fault of an add-on's unpacked file, as the end of a sentence about the file. Null when it has none. */
function problemOf(name: string, file: string): string | null {
  const { sha256, bytes } = known(name);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found) return "is missing";
  if (!found.isFile()) return "is not a plain file";
  if (process.getuid && found.uid !== process.getuid()) return "belongs to another user";
  if (found.size !== bytes || sha256Of(readFileSync(file)) !== sha256) return "does not match this version";
  return null;
}

function sha256Of(bytes: Buffer): string {
  return hash("sha256", bytes);
}

function known(name: string): { sha256: string; bytes: number } {
  const addon = ADDONS[name];
  if (!addon) throw new Error(`no add-on is called ${name}`);
  return addon;
}
