import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import packageJson from "../../package.json" with { type: "json" };
import { OperatorError, systemCode } from "../errors.ts";
import { COMMAND, readComponents } from "../platform/checkout.ts";
import { printData, printJson } from "./output.ts";
import { printTable } from "./table.ts";

/** How this program compares with a release. `changed`: it has the version of the release, but other bytes. */
type Comparison = "same" | "changed" | "newer" | "older";

/** What a provenance file says of a release. */
interface ReleaseFacts {
  version: string;
  /** The commit that it was built from. Null if files differed from it. */
  commit: string | null;
  /** SHA-256 of its files and programs, by name. */
  digests: Record<string, string>;
}

/** Prints the version, or compares this program with the provenance file of a release. */
export async function runVersion({ check, json }: { check?: string; json?: boolean }): Promise<void> {
  const { version } = packageJson;
  if (check === undefined) {
    const node = process.versions.node;
    return json ? printJson({ version, node }) : printData(`authserve ${version}, Node ${node}`);
  }
  const release = readProvenance(check);
  const sha256 = COMMAND === process.execPath ? await digestOf(COMMAND) : null;
  const result = compareWith(release, version, sha256);
  if (json) printJson({ version, sha256, release: release.version, commit: release.commit, result });
  else printData(textOf(result, version, release, sha256 !== null));
  if (result !== "same") process.exitCode = 1;
}

/** Compares a version, and the digest of its program if it has one, with a release. */
export function compareWith({ version, digests }: ReleaseFacts, own: string, sha256: string | null): Comparison {
  const order = own.localeCompare(version, "en", { numeric: true });
  if (order !== 0) return order < 0 ? "newer" : "older";
  return sha256 === null || Object.values(digests).includes(sha256) ? "same" : "changed";
}

/** What a comparison tells a person. */
export function textOf(result: Comparison, own: string, release: ReleaseFacts, isExecutable: boolean): string {
  switch (result) {
    case "same":
      return isExecutable
        ? `This program is ${own} of the release, byte for byte.${rebuilding(release)}`
        : `This checkout has the version of the release, ${own}. Only executables have a digest to compare.`;
    case "changed":
      return `This program says that it is ${own}, but the release has other bytes.`;
    case "newer":
    case "older":
      return `The release ${release.version} is ${result} than this program, ${own}.`;
  }
}

function rebuilding({ commit }: ReleaseFacts): string {
  return commit === null
    ? ""
    : `\nAnybody can build the same: git checkout ${commit} && npm ci && npm run build:binary`;
}

/** Reads the provenance file of a release: an in-toto statement. */
export function readProvenance(file: string): ReleaseFacts {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new OperatorError({
      found: `${file} cannot be read (${systemCode(error)})`,
      remedy: "name an existing file",
    });
  }
  try {
    const { subject, predicate } = JSON.parse(text) as {
      subject: { name: string; digest: { sha256: string } }[];
      predicate: {
        buildDefinition: {
          externalParameters: { version: string; isModified: boolean };
          resolvedDependencies: { digest: { gitCommit?: string } }[];
        };
      };
    };
    const { externalParameters, resolvedDependencies } = predicate.buildDefinition;
    const { version, isModified } = externalParameters;
    if (typeof version !== "string") throw new TypeError("no version");
    const [source] = resolvedDependencies.flatMap(({ digest }) => digest.gitCommit ?? []);
    const commit = isModified ? null : (source ?? null);
    return { version, commit, digests: Object.fromEntries(subject.map(({ name, digest }) => [name, digest.sha256])) };
  } catch {
    const remedy = "name authserve-VERSION.provenance.json of a release";
    throw new OperatorError({ found: `${file} is not a provenance file`, remedy });
  }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** Lists the packages in this program. With `full`, prints the full licence texts. */
export function runLicenses({ full, json }: { full?: boolean; json?: boolean }): void {
  const components = readComponents();
  if (json) {
    printJson(
      components.map(({ name, version, license, text }) => ({ name, version, license, ...(full ? { text } : {}) })),
    );
  } else if (full) {
    for (const { name, version, license, text } of components) {
      printData(`== ${name} ${version}: ${license}\n\n${text || "(the package has no licence file)"}\n`);
    }
  } else {
    printTable(
      ["PACKAGE", "VERSION", "LICENCE"],
      components.map(({ name, version, license }) => [name, version, license]),
    );
  }
}
