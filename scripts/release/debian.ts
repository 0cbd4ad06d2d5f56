import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import type { Release } from "./release.ts";
import { CONFFILES, executableFile, gzip, type SystemFile, stage, systemFiles } from "./system-files.ts";

const ARCHITECTURES = { x64: "amd64", arm64: "arm64" };

/**
 * Writes a .deb for each target, with `dpkg-deb`. Nothing is compiled here, and the scripts of debhelper
 * would start a service that was stopped by hand.
 */
export function writeDebianPackages(release: Release): void {
  for (const target of release.targets) {
    const architecture = ARCHITECTURES[target.cpu];
    const folder = join(release.scratch, `debian-${architecture}`);
    const files = [
      // At an upgrade, dpkg asks about each of them that both the operator and the package have changed, and fails
      // without a terminal. `init --system` writes them instead.
      ...systemFiles(target, "usr/share/zsh/vendor-completions").filter(({ path }) => !CONFFILES.includes(path)),
      { path: "usr/share/doc/authserve/changelog.gz", content: gzip(changelog(release)) },
      { path: "usr/share/lintian/overrides/authserve", content: LINTIAN_OVERRIDES },
    ];
    const executable = release.executableOf(target);
    const control: SystemFile[] = [
      { path: "DEBIAN/control", content: controlFile(release, architecture, installedKib(files, executable)) },
      { path: "DEBIAN/md5sums", content: md5sums(files, executable) },
      ...Object.entries(SCRIPTS).map(([name, text]) => ({ path: `DEBIAN/${name}`, content: text, mode: 0o755 })),
    ];
    // That folder stays the package's own, also without files of the package in it.
    stage(folder, release, [...files, executableFile(release, target), ...control], ["etc/authserve"]);
    const name = `authserve_${release.packageVersion}_${architecture}.deb`;
    packDebian(folder, join(release.dist, name), release);
    release.add(name);
  }
}

/** Makes a .deb of a folder with its files and `DEBIAN/control`. */
export function packDebian(folder: string, output: string, { time }: Release): void {
  // One thread, because the bytes depend on the number of threads. Above level 1, xz takes minutes.
  const packing = ["-Zxz", "-z1", "--threads-max=1", "--root-owner-group"];
  execFileSync("dpkg-deb", [...packing, "--build", folder, output], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function controlFile({ packageVersion }: Release, architecture: string, installedSize: number): string {
  return `Package: authserve
Version: ${packageVersion}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${installedSize}
Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 11), adduser
Suggests: caddy | nginx, systemd
Section: net
Priority: optional
Description: ${packageJson.description.replace(/^S/, "s")}
 authserve logs one user in, with at most one session, and protects other
 apps with that login. It receives webhooks, verifies their signatures, stores
 each event on disk and processes it once.
 .
 Run "authserve init --system" after the installation.
`;
}

export const MAINTAINER = "The authserve authors <authserve@users.noreply.invalid>";

function changelog({ packageVersion, time }: Release): string {
  const date = new Date(time * 1000).toUTCString().replace("GMT", "+0000");
  return `authserve (${packageVersion}) stable; urgency=medium

  * The changes are in /usr/share/doc/authserve/CHANGELOG.md.

 -- ${MAINTAINER}  ${date}
`;
}

function installedKib(files: readonly SystemFile[], executable: string): number {
  const sizes = [...files.map(({ content }) => Buffer.byteLength(content)), statSync(executable).size];
  return sizes.reduce((total, bytes) => total + Math.ceil(bytes / 1024), 0);
}

/** The checksums that `dpkg --verify` compares. */
function md5sums(files: readonly SystemFile[], executable: string): string {
  const lines = files.map(({ path, content }) => `${createHash("md5").update(content).digest("hex")}  ${path}`);
  const own = execFileSync("md5sum", [executable], { encoding: "utf8" }).split(" ")[0];
  return `${[...lines, `${own}  usr/bin/authserve`].join("\n")}\n`;
}

const LINTIAN_OVERRIDES = `# Node is in the executable, with its own zlib.
authserve: embedded-library
`;

/** The scripts of the package. They do not start a new service, because it needs a user and a password first. */
const SCRIPTS = {
  postinst: `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  getent passwd authserve >/dev/null ||
    adduser --quiet --system --group --no-create-home --home /var/lib/authserve authserve
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    # An upgrade restarts the service only if it runs.
    systemctl try-restart authserve.service || echo "authserve does not start: see journalctl -u authserve" >&2
  fi
  if [ ! -e /etc/authserve/jwt_secret ]; then echo "Set up the service with: authserve init --system"; fi
fi
`,
  prerm: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl stop authserve-backup.timer authserve.service; fi
`,
  postrm: `#!/bin/sh
set -e
if [ "$1" = purge ]; then
  rm -rf /etc/authserve /var/lib/authserve /var/cache/authserve
  rm -f /etc/systemd/system/multi-user.target.wants/authserve.service
  rm -f /etc/systemd/system/timers.target.wants/authserve-backup.timer
  if getent passwd authserve >/dev/null && command -v deluser >/dev/null; then deluser --quiet --system authserve; fi
fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
`,
};
