import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import packageJson from "../package.json" with { type: "json" };
import { manPage } from "../src/cli/man.ts";
import { createProgram } from "../src/cli/program.ts";
import { type Component, productionComponents } from "../src/platform/licences.ts";
import { bundlePage } from "../src/platform/page-bundle.ts";
import { type Entry, tarGz, zip } from "./build/archive.ts";
import { ROOT } from "./build/bundle.ts";
import { buildExecutable } from "./build/executable.ts";
import { sbom } from "./build/sbom.ts";
import { ownTarget, TARGETS, type Target } from "./build/targets.ts";

const { values: options } = parseArgs({ options: { all: { type: "boolean" }, node: { type: "string" } } });

const DIST = join(ROOT, "dist");

const scratch = mkdtempSync(join(tmpdir(), "authserve-packages-"));
try {
  mkdirSync(DIST, { recursive: true });
  if (options.all) await buildArchives();
  else await buildOwn();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function buildOwn(): Promise<void> {
  const target = ownTarget();
  const output = join(DIST, executableName(target));
  await build(target, componentsOf(target), output, options.node);
  process.stderr.write(`built ${output}\n`);
}

/** Builds an archive and a bill of materials for each target, and the checksums of all. */
async function buildArchives(): Promise<void> {
  const sums: string[] = [];
  const write = (file: string, content: Buffer) => {
    writeFileSync(join(DIST, file), content);
    sums.push(`${createHash("sha256").update(content).digest("hex")}  ${file}\n`);
  };
  for (const target of TARGETS) {
    const name = `authserve-${packageJson.version}-${target.name}`;
    const components = componentsOf(target);
    const executable = join(scratch, executableName(target));
    await build(target, components, executable);
    const entries = [
      { path: executableName(target), content: readFileSync(executable), executable: true },
      ...accompanying(),
    ].map((entry) => ({ ...entry, path: `${name}/${entry.path}` }));
    write(`${name}.${target.os === "win32" ? "zip" : "tar.gz"}`, target.os === "win32" ? zip(entries) : tarGz(entries));
    write(`${name}.cdx.json`, Buffer.from(sbom("authserve", packageJson.version, components)));
    process.stderr.write(`built ${name}\n`);
  }
  writeFileSync(join(DIST, "SHA256SUMS"), sums.join(""));
}

async function build(
  target: Target,
  components: readonly Component[],
  output: string,
  nodeArchive?: string,
): Promise<void> {
  rmSync(output, { force: true });
  const { script, style } = await bundlePage();
  const texts = {
    "licenses.json": JSON.stringify(components),
    "page.js": script.toString(),
    "page.css": style.toString(),
  };
  await buildExecutable(target, { texts, output, scratch, nodeArchive });
}

function executableName({ os }: Target): string {
  return os === "win32" ? "authserve.exe" : "authserve";
}

/** The production packages of a target: those of this machine, with the target's platform packages. */
function componentsOf(target: Target): Component[] {
  const { napi: own } = ownTarget();
  return productionComponents(ROOT, (name) => {
    if (name.startsWith("node-") && existsSync(join(ROOT, "node_modules", name, "bin"))) return target.nodePackage;
    return name.endsWith(`-${own}`) ? name.replace(own, target.napi) : name;
  });
}

/** The other files of an archive: the documentation, and the files for an installation. */
function accompanying(): Entry[] {
  const files = [
    "LICENSE",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "bench/intake.svg",
    ...filesIn("docs"),
    ...filesIn("deploy"),
  ];
  const entries = files.map((path) => ({ path, content: readFileSync(join(ROOT, path)), executable: false }));
  return [
    ...entries,
    { path: "authserve.1", content: Buffer.from(`${manPage(createProgram())}\n`), executable: false },
  ];
}

/** The files below a folder, in a fixed order. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return files.map((file) => relative(ROOT, file).replaceAll("\\", "/")).sort();
}
