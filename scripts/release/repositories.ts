import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { MAINTAINER, packDebian } from "./debian.ts";
import { OpenPgp } from "./openpgp.ts";
import { type Release, sha256Of } from "./release.ts";
import { gzip, stage } from "./system-files.ts";

/** The package with the public keys. An upgrade of it brings the next key, before that key signs. */
const KEYRING = "authserve-archive-keyring";

/**
 * Writes the folders `apt` and `rpm`: repositories with the packages of this release, and those of the repositories in
 * the folder `earlier`. Only the .rpm there are signed: the others are what everybody can build.
 */
export function writeRepositories(release: Release, keyFile: string, earlier?: string): void {
  const { dist } = release;
  const keys = new OpenPgp(keyFile, release);
  for (const kind of ["apt", "rpm"]) {
    rmSync(join(dist, kind), { recursive: true, force: true });
    mkdirSync(join(dist, kind));
    if (earlier !== undefined)
      for (const name of packagesIn(join(earlier, kind)))
        copyFileSync(join(earlier, kind, name), join(dist, kind, name));
  }
  for (const { name } of release.files()) {
    if (/^[^/]+\.deb$/.test(name)) copyFileSync(join(dist, name), join(dist, "apt", name));
    if (/^[^/]+\.rpm$/.test(name)) {
      copyFileSync(join(dist, name), join(dist, "rpm", name));
      keys.signRpm(join(dist, "rpm", name));
    }
  }
  packKeyring(release, keys);
  indexApt(join(dist, "apt"), keys, release.time);
  indexRpm(join(dist, "rpm"), keys, release.time);
  for (const kind of ["apt", "rpm"]) {
    const entries = readdirSync(join(dist, kind), { recursive: true, withFileTypes: true });
    for (const { parentPath, name } of entries.filter((entry) => entry.isFile()))
      release.add(relative(dist, join(parentPath, name)));
  }
}

function packKeyring(release: Release, keys: OpenPgp): void {
  const control = `Package: ${KEYRING}
Version: ${release.packageVersion}
Architecture: all
Maintainer: ${MAINTAINER}
Section: net
Priority: optional
Description: keys of the authserve repository
 These keys verify the packages of authserve.
`;
  const folder = join(release.scratch, KEYRING);
  stage(folder, release, [
    { path: `usr/share/keyrings/${KEYRING}.gpg`, content: keys.keyring() },
    { path: "DEBIAN/control", content: control },
  ]);
  packDebian(folder, join(release.dist, "apt", `${KEYRING}_${release.packageVersion}_all.deb`), release);
}

/** A flat repository: https://wiki.debian.org/DebianRepository/Format */
function indexApt(folder: string, keys: OpenPgp, time: number): void {
  const names = packagesIn(folder);
  const packages = names.map((name) => {
    const file = join(folder, name);
    const control = execFileSync("dpkg-deb", ["--field", file], { encoding: "utf8" });
    return `${control}Filename: ./${name}\nSize: ${statSync(file).size}\nSHA256: ${sha256Of(file)}\n`;
  });
  const list = Buffer.from(packages.join("\n"));
  const sums = Object.entries({ Packages: list, "Packages.gz": gzip(list) }).map(([name, content]) => {
    const sha256 = createHash("sha256").update(content).digest("hex");
    mkdirSync(join(folder, "by-hash/SHA256"), { recursive: true });
    for (const path of [name, `by-hash/SHA256/${sha256}`]) writeFileSync(join(folder, path), content);
    return ` ${sha256} ${content.length} ${name}\n`;
  });
  const release = join(folder, "Release");
  writeFileSync(
    release,
    `Origin: authserve
Label: authserve
Suite: stable
Date: ${new Date(time * 1000).toUTCString().replace("GMT", "UTC")}
Architectures: amd64 arm64
Acquire-By-Hash: yes
SHA256:
${sums.join("")}`,
  );
  keys.sign("--clear-sign", release, join(folder, "InRelease"));
  keys.sign("--detach-sign", release, join(folder, "Release.gpg"));
  writeFileSync(join(folder, `${KEYRING}.gpg`), keys.keyring());
}

function indexRpm(folder: string, keys: OpenPgp, time: number): void {
  // The index has the times of the files.
  for (const name of packagesIn(folder)) utimesSync(join(folder, name), time, time);
  const options = ["--quiet", "--revision", String(time), "--set-timestamp-to-revision", "--no-database"];
  execFileSync("createrepo_c", [...options, folder], { stdio: ["ignore", "ignore", "inherit"] });
  keys.sign("--detach-sign", join(folder, "repodata/repomd.xml"), join(folder, "repodata/repomd.xml.asc"));
  writeFileSync(join(folder, "RPM-GPG-KEY-authserve"), keys.armoredKeys());
}

/** The packages in a folder, in a fixed order. */
function packagesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /\.(deb|rpm)$/.test(name))
    .sort();
}
