import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { renderSite } from "../../src/platform/site/render.ts";
import { ROOT } from "../build/bundle.ts";
import { buildProgram } from "../build/program.ts";
import { ownTarget, type Target } from "../build/targets.ts";
import { writeArchives } from "./archives.ts";
import { changelogHas } from "./changelog.ts";
import { writeDebianPackages } from "./debian.ts";
import { buildImage } from "./image.ts";
import { writeInstaller, writeRecipes } from "./installer.ts";
import { buildNpmPackage } from "./npm.ts";
import { writeProvenance } from "./provenance.ts";
import { Release } from "./release.ts";
import { writeRepositories } from "./repositories.ts";
import { writeRpmPackages } from "./rpm.ts";
import { writeStores } from "./stores.ts";
import { publicKeyOf, signSums, writeSums } from "./sums.ts";

interface ReleaseOptions {
  targets: readonly Target[];
  /** The executable for the platform of this machine. Without it, it is built. */
  executable?: string | undefined;
  /** The folder of the release. */
  out: string;
  /** The secret key of minisign that signs the checksums. Without it they are not signed. */
  sign?: string | undefined;
  /** The file with the secret OpenPGP key that signs repositories for APT and DNF. Without it there are none. */
  openpgp?: string | undefined;
  /** The folder of the release before, whose packages the repositories keep. */
  earlier?: string | undefined;
  /** The name of the image in a registry, for the entries of app stores. */
  registry: string;
  hasImage: boolean;
}

/** Makes a release. */
export async function makeRelease(options: ReleaseOptions): Promise<void> {
  const { targets, executable, out, sign, openpgp, earlier, registry, hasImage } = options;
  const scratch = mkdtempSync(join(tmpdir(), "authserve-release-"));
  try {
    const dist = resolve(out);
    mkdirSync(dist, { recursive: true });
    const publicKey = sign === undefined ? undefined : publicKeyOf(sign, scratch);
    const release = new Release({ dist, scratch, targets, publicKey });
    if (release.isModified && [sign, openpgp].some(Boolean))
      throw new Error("files differ from the commit: sign a release of a commit only");
    if (!changelogHas(release.version)) say(`CHANGELOG.md has no section ${release.version} yet`);
    if (release.publicKey === null) say("the release is not signed: --sign names the secret key");

    for (const target of targets) {
      const given = target === ownTarget() ? executable : undefined;
      const output = join(scratch, target.name, "authserve");
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
      ...(hasImage ? [writeImages] : []),
      writeNpmPackages,
      writeInstaller,
      writeRecipes,
      writeSite,
      (made: Release) => writeStores(made, registry),
      writeProvenance,
      // After the provenance: signatures are no result of the build.
      ...(openpgp ? [(made: Release) => writeRepositories(made, openpgp, earlier)] : []),
      writeSums,
    ];
    for (const step of steps) await step(release);
    if (sign) signSums(release, sign);
    for (const { name, bytes } of release.files()) {
      if (!name.includes("/")) say(`${String(Math.ceil(bytes / 1e6)).padStart(5)} MB  ${name}`);
    }
    say(`          docs/  (the documentation as a site)`);
    say(`          stores/  (the entries of app stores)`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function writeImages(release: Release): void {
  const { dist: output, scratch, commit, time } = release;
  for (const name of buildImage(sourcesOf(release), { output, scratch, commit, time })) release.add(name);
}

function writeNpmPackages(release: Release): void {
  for (const name of buildNpmPackage(sourcesOf(release), release.dist, release.scratch)) release.add(name);
}

/** Writes the folder `docs`: the documentation as a site, see `platform/site/render.ts`. */
async function writeSite(release: Release): Promise<void> {
  for (const [name, content] of Object.entries(await renderSite(ROOT))) release.write(`docs/${name}`, content);
}

function sourcesOf(release: Release) {
  return release.targets.map((target) => ({ target, executable: release.executableOf(target) }));
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
