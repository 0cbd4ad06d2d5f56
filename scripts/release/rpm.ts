import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import type { Release } from "./release.ts";
import { CONFFILES, executableFile, stage, systemFiles } from "./system-files.ts";

const ARCHITECTURES = { x64: "x86_64", arm64: "aarch64" };

/** Writes an .rpm for each target, with `rpmbuild`. */
export function writeRpmPackages(release: Release): void {
  for (const target of release.targets) {
    const architecture = ARCHITECTURES[target.cpu];
    const top = join(release.scratch, `rpm-${architecture}`);
    const tree = join(top, "tree");
    const files = systemFiles(target, "usr/share/zsh/site-functions");
    mkdirSync(top);
    stage(tree, release, [...files, executableFile(release, target)]);
    const spec = join(top, "authserve.spec");
    writeFileSync(spec, specFile(release, tree, ["usr/bin/authserve", ...files.map(({ path }) => path)]));
    const defines = { _topdir: top, _rpmdir: top, _rpmfilename: "authserve.rpm", ...REPRODUCIBLE };
    const options = Object.entries(defines).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
    execFileSync("rpmbuild", ["-bb", "--quiet", "--target", `${architecture}-linux`, ...options, spec], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(release.time) },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const name = `authserve-${release.packageVersion}-1.${architecture}.rpm`;
    copyFileSync(join(top, "authserve.rpm"), join(release.dist, name));
    release.add(name);
  }
}

/** The same bytes on each machine: no time and name of the build, and no change to the executable, e.g. by `strip`. */
const REPRODUCIBLE = {
  _buildhost: "authserve",
  use_source_date_epoch_as_buildtime: "1",
  clamp_mtime_to_source_date_epoch: "1",
  source_date_epoch_from_changelog: "0",
  _binary_payload: "w12.zstdio",
  _build_id_links: "none",
  debug_package: "%{nil}",
  __os_install_post: "%{nil}",
};

const DOCUMENTS = "usr/share/doc/authserve";

function specFile({ packageVersion }: Release, tree: string, paths: readonly string[]): string {
  const files = paths
    .filter((path) => !path.startsWith(DOCUMENTS))
    .map((path) => (CONFFILES.includes(path) ? `%config(noreplace) /${path}` : `/${path}`));
  return `Name: authserve
Version: ${packageVersion}
Release: 1
Summary: ${packageJson.description}
License: ${packageJson.license}
AutoReqProv: no
Requires: glibc >= 2.34, libstdc++ >= 11, libgcc, util-linux, systemd
Requires(pre): shadow-utils

%description
authserve logs one user in, with at most one session, and protects other apps with that login.
It receives webhooks, verifies their signatures, stores each event on disk and processes it once.
Run "authserve init --system" after the installation.

%install
mkdir -p %{buildroot}
cp -a ${tree}/. %{buildroot}

%pre
getent passwd authserve >/dev/null ||
  useradd --system --user-group --no-create-home --home-dir /var/lib/authserve --shell /usr/sbin/nologin authserve

%post
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ ! -e /etc/authserve/jwt_secret ]; then echo "Set up the service with: authserve init --system"; fi

%preun
if [ $1 -eq 0 ] && [ -d /run/systemd/system ]; then systemctl stop authserve-backup.timer authserve.service; fi

%postun
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # An upgrade restarts the service only if it runs.
  if [ $1 -ge 1 ]; then systemctl try-restart authserve.service; fi
fi

%files
%defattr(-,root,root,-)
%dir /etc/authserve
%doc /${DOCUMENTS}
${files.join("\n")}
`;
}
