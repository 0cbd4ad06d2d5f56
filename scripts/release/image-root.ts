import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { addonFile } from "../../src/platform/addon-dir.ts";
import { ROOT } from "../build/bundle.ts";
import { addonsOf } from "../build/executable.ts";
import type { Target } from "../build/targets.ts";
import { type DebianPackage, debianPackages } from "./debian-packages.ts";

/** The user and group of the image. Debian and Red Hat give this number to nobody. */
export const USER = "65532:65532";
export const DATA_DIR = "/var/lib/authserve";
export const ADDON_DIR = "/usr/lib/authserve/addons";

/** What differs between the processors: Debian's names, and the path where programs expect the loader of libraries. */
const PROCESSORS = {
  x64: { architecture: "amd64", triplet: "x86_64-linux-gnu", loader: "/usr/lib64/ld-linux-x86-64.so.2" },
  arm64: { architecture: "arm64", triplet: "aarch64-linux-gnu", loader: "/usr/lib/ld-linux-aarch64.so.1" },
};

/**
 * The shared libraries that the executable and its add-ons load, and what looks up host names. The loader comes with
 * them.
 */
const LIBRARIES = {
  libc6: ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libresolv.so.2"],
  "libstdc++6": ["libstdc++.so.6"],
  "libgcc-s1": ["libgcc_s.so.1"],
};

const PACKAGES = [...Object.keys(LIBRARIES), "base-files", "ca-certificates", "tzdata"];

/** Debian's name of a target's processor. */
export function architectureOf({ cpu }: Target): "amd64" | "arm64" {
  return PROCESSORS[cpu].architecture as "amd64" | "arm64";
}

/** Writes the files of an image into a folder: those that belong to root. */
export function layOutSystem(root: string, target: Target, executable: string, scratch: string): void {
  const packages = debianPackages(PACKAGES, architectureOf(target), scratch);
  const folderOf = (name: string) => packages.find((one) => one.name === name)?.folder ?? "";
  const put = (path: string, content: string | Buffer) => {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  copyLibraries(root, target, folderOf);
  const zones = "usr/share/zoneinfo";
  cpSync(join(folderOf("tzdata"), zones), join(root, zones), { recursive: true, verbatimSymlinks: true });
  put("etc/ssl/certs/ca-certificates.crt", authorities(join(folderOf("ca-certificates"), "usr/share/ca-certificates")));
  put("etc/os-release", readFileSync(join(folderOf("base-files"), "usr/lib/os-release")));
  for (const one of packages) describe(one, put);
  put("etc/passwd", `root:x:0:0:root:/:/sbin/nologin\nauthserve:x:${USER}:authserve:${DATA_DIR}:/sbin/nologin\n`);
  put("etc/group", "root:x:0:\nauthserve:x:65532:\n");
  put("etc/nsswitch.conf", "hosts: files dns\n");

  put("usr/share/doc/authserve/copyright", readFileSync(join(ROOT, "LICENSE")));
  put("usr/local/bin/authserve", readFileSync(executable));
  chmodSync(join(root, "usr/local/bin/authserve"), 0o755);
  for (const folder of [DATA_DIR, ADDON_DIR]) mkdirSync(join(root, dirname(folder)), { recursive: true });
  mkdirSync(join(root, "tmp"));
  chmodSync(join(root, "tmp"), 0o1777);
}

/** Writes the files of an image that belong to {@link USER}. */
export function layOutOwned(root: string, target: Target, scratch: string): void {
  for (const folder of [DATA_DIR, ADDON_DIR]) mkdirSync(join(root, folder), { recursive: true, mode: 0o700 });
  for (const [name, file] of Object.entries(addonsOf(target, scratch))) {
    const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
    const unpacked = join(root, addonFile(ADDON_DIR, name, sha256));
    copyFileSync(file, unpacked);
    chmodSync(unpacked, 0o600);
  }
}

function copyLibraries(root: string, { cpu }: Target, folderOf: (name: string) => string): void {
  const { triplet, loader } = PROCESSORS[cpu];
  const to = join(root, "usr/lib", triplet);
  mkdirSync(to, { recursive: true });
  mkdirSync(join(root, dirname(loader)), { recursive: true });
  for (const [name, libraries] of Object.entries({ ...LIBRARIES, libc6: [...LIBRARIES.libc6, basename(loader)] })) {
    // Older releases of Debian have some libraries in /lib, which is a link to /usr/lib.
    const folders = ["lib", "usr/lib"].map((folder) => join(folderOf(name), folder, triplet));
    for (const library of libraries) {
      const from = folders.map((folder) => join(folder, library)).find(existsSync);
      if (from === undefined) throw new Error(`${library} is not in Debian's package ${name}`);
      copyFileSync(from, join(to, library));
      chmodSync(join(to, library), 0o755);
    }
  }
  symlinkSync(`/usr/lib/${triplet}/${basename(loader)}`, join(root, loader));
  for (const folder of ["lib", "lib64"]) symlinkSync(`usr/${folder}`, join(root, folder));
}

/** All certificate authorities in one text. */
function authorities(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".crt"));
  return files
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("");
}

/** Adds what scanners of images read about a package, and its licences. */
function describe(
  { name, control, folder }: DebianPackage,
  put: (path: string, content: string | Buffer) => void,
): void {
  put(`var/lib/dpkg/status.d/${name}`, control);
  const licence = join(folder, "usr/share/doc", name, "copyright");
  if (existsSync(licence)) put(`usr/share/doc/${name}/copyright`, readFileSync(licence));
}
