import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildProgram, DIST, executableName } from "./build/program.ts";
import { ownTarget, TARGETS, type Target } from "./build/targets.ts";
import { writeArchives } from "./release/archives.ts";
import { changelogHas } from "./release/changelog.ts";
import { writeDebianPackages } from "./release/debian.ts";
import { buildImage } from "./release/image.ts";
import { writeInstaller } from "./release/installer.ts";
import { buildNpmPackage } from "./release/npm.ts";
import { writeProvenance } from "./release/provenance.ts";
import { Release } from "./release/release.ts";
import { writeRpmPackages } from "./release/rpm.ts";
import { publicKeyOf, signSums, writeSums } from "./release/sums.ts";

const { values: options } = parseArgs({
  options: {
    /** Builds for these platforms only. */
    target: { type: "string", multiple: true, default: TARGETS.map(({ name }) => name) },
    /** Takes this executable for the platform of this machine, instead of building it. */
    executable: { type: "string" },
    /** The folder of the release. */
    out: { type: "string", default: DIST },
    /** The secret key of minisign that signs the checksums. Without it they are not signed. */
    sign: { type: "string" },
  },
});

const scratch = mkdtempSync(join(tmpdir(), "authserve-release-"));
try {
  const dist = resolve(options.out);
  mkdirSync(dist, { recursive: true });
  const targets = TARGETS.filter(({ name }) => options.target.includes(name));
  const unknown = options.target.find((name) => !targets.some((target) => target.name === name));
  if (unknown !== undefined) throw new Error(`there is no platform ${unknown}`);
  const release = new Release({
    dist,
    scratch,
    targets,
    publicKey: options.sign === undefined ? undefined : publicKeyOf(options.sign, scratch),
  });
  if (options.sign && release.isModified)
    throw new Error("files differ from the commit: sign a release of a commit only");
  if (!changelogHas(release.version)) say(`CHANGELOG.md has no section ${release.version} yet`);
  if (release.publicKey === null) say("the release is not signed: --sign names the secret key");

  for (const target of targets) {
    const given = target === ownTarget() ? options.executable : undefined;
    const output = join(scratch, target.name, executableName(target));
    mkdirSync(join(scratch, target.name));
    if (given === undefined) await buildProgram(target, { output, scratch });
    release.executables.set(target, given === undefined ? output : resolve(given));
    say(`built the executable for ${target.name}`);
  }

  // Each step adds its files to the release. The last ones are about the files of the others.
  const steps = [
    writeArchives,
    writeDebianPackages,
    writeRpmPackages,
    writeImages,
    writeNpmPackages,
    writeInstaller,
    writeProvenance,
    writeSums,
  ];
  for (const step of steps) await step(release);
  if (options.sign) signSums(release, options.sign);
  for (const { name, bytes } of release.files()) say(`${String(Math.ceil(bytes / 1e6)).padStart(5)} MB  ${name}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function writeImages(release: Release): void {
  const { dist: output, scratch, commit, time } = release;
  if (release.linuxTargets.length === 0) return;
  for (const name of buildImage(sourcesOf(release.linuxTargets, release), { output, scratch, commit, time }))
    release.add(name);
}

function writeNpmPackages(release: Release): void {
  // The launcher of the package is a shell script.
  const targets = release.targets.filter(({ os }) => os !== "win32");
  for (const name of buildNpmPackage(sourcesOf(targets, release), release.dist, release.scratch)) release.add(name);
}

function sourcesOf(targets: readonly Target[], release: Release) {
  return targets.map((target) => ({ target, executable: release.executableOf(target) }));
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
