import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** A package of Debian, unpacked. */
export interface DebianPackage {
  name: string;
  version: string;
  /** The text that describes it, in the form of `dpkg/status`. */
  control: string;
  /** The folder with its files. */
  folder: string;
}

/**
 * Downloads packages of Debian for an architecture, and unpacks each into a folder of its own. Packages that hold the
 * licences of others are added. apt takes them from this machine's sources, and verifies them with this machine's keys.
 */
export function debianPackages(names: readonly string[], architecture: string, scratch: string): DebianPackage[] {
  const apt = aptOf(architecture, mkdtempSync(join(scratch, `apt-${architecture}-`)));
  const download = (wanted: readonly string[]) => {
    const folder = mkdtempSync(join(scratch, `debian-${architecture}-`));
    apt(folder, "download", ...wanted);
    return readdirSync(folder)
      .sort()
      .map((file) => unpack(join(folder, file), folder));
  };
  apt(scratch, "update");
  const packages = download(names);
  const withLicences = new Set(packages.flatMap(({ name, folder }) => linkTarget(join(folder, "usr/share/doc", name))));
  return [...packages, ...download([...withLicences].filter((name) => !names.includes(name)))];
}

/** apt-get with lists of its own, so that it takes packages of any architecture and changes nothing on this machine. */
function aptOf(architecture: string, own: string): (folder: string, ...args: string[]) => void {
  for (const path of ["state/lists/partial", "cache/archives/partial"]) mkdirSync(join(own, path), { recursive: true });
  const status = join(own, "state/status");
  writeFileSync(status, "");
  const settings = {
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Sandbox::User": "root",
    "Dir::State": join(own, "state"),
    "Dir::State::status": status,
    "Dir::Cache": join(own, "cache"),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  return (folder, ...args) => {
    execFileSync("apt-get", ["-qq", ...options, ...args], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  };
}

function unpack(file: string, folder: string): DebianPackage {
  const field = (...names: string[]) => execFileSync("dpkg-deb", ["--field", file, ...names], { encoding: "utf8" });
  const name = field("Package").trim();
  const into = join(folder, name);
  execFileSync("dpkg-deb", ["--extract", file, into]);
  const control = field().replace(/^Package: .*\n/m, (line) => `${line}Status: install ok installed\n`);
  return { name, version: field("Version").trim(), control, folder: into };
}

function linkTarget(path: string): string[] {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? [basename(readlinkSync(path))] : [];
}
