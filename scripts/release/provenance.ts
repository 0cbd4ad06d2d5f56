import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { ROOT } from "../build/bundle.ts";
import { lockedIntegrity, lockedVersion } from "../build/packages.ts";
import { type Release, sha256Of } from "./release.ts";

/**
 * Writes what the release was made of: an in-toto statement with SLSA provenance 1. It names the commit, the lock file
 * and each Node. It has no time and no name of a machine, so that two builds of a commit are equal.
 */
export function writeProvenance(release: Release): void {
  const programs = release.targets.map((target) => ({
    name: `authserve-${release.version}-${target.name}/authserve`,
    digest: { sha256: sha256Of(release.executableOf(target)) },
  }));
  const nodes = [...new Set(release.targets.map(({ nodePackage }) => nodePackage))].map((name) => ({
    uri: `pkg:npm/${name}@${lockedVersion(name)}`,
    digest: { sha512: Buffer.from(lockedIntegrity(name).replace(/^sha512-/, ""), "base64").toString("hex") },
  }));
  const lockFile = { name: "package-lock.json", digest: { sha256: sha256Of(join(ROOT, "package-lock.json")) } };
  const source = { name: "source", digest: { gitCommit: release.commit } };
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: [...release.files().map(({ name, sha256 }) => ({ name, digest: { sha256 } })), ...programs],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:authserve:npm-run-release:1",
        externalParameters: { name: packageJson.name, version: release.version, isModified: release.isModified },
        resolvedDependencies: [source, lockFile, ...nodes],
      },
      runDetails: { builder: { id: "urn:authserve:npm-run-release" } },
    },
  };
  release.write(`authserve-${release.version}.provenance.json`, `${JSON.stringify(statement, null, 2)}\n`);
}
