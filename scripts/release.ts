import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { TARGETS } from "./build/targets.ts";
import { lackingTools } from "./release/tools.ts";

const { values: options } = parseArgs({
  options: {
    /** Builds for these platforms only. */
    target: { type: "string", multiple: true, default: TARGETS.map(({ name }) => name) },
    /** Takes this executable for the platform of this machine, instead of building it. */
    executable: { type: "string" },
    /** The folder of the release. */
    out: { type: "string", default: join(import.meta.dirname, "../dist") },
    /** The secret key of minisign that signs the checksums. Without it they are not signed. */
    sign: { type: "string" },
    /** The secret OpenPGP key that signs repositories for APT and DNF. Without it there are none. */
    openpgp: { type: "string" },
    /** The folder of the release before, whose packages the repositories keep. */
    earlier: { type: "string" },
    /** The name of the image in a registry, for the entries of app stores. */
    registry: { type: "string", default: "localhost/authserve" },
    /** Leaves the images out, which need buildah and root. */
    "without-image": { type: "boolean", default: false },
  },
});

const targets = TARGETS.filter(({ name }) => options.target.includes(name));
const hasImage = !options["without-image"];

// A release takes minutes, so what would fail late is looked for first. Loading the builders takes a second.
const lacking = whatIsLacking();
if (lacking === null) {
  const { makeRelease } = await import("./release/make.ts");
  await makeRelease({ ...options, targets, hasImage });
} else {
  process.stderr.write(`${lacking}\n`);
  process.exitCode = 2;
}

/** What this machine or the command line lacks, with what to do. Null if nothing. */
function whatIsLacking(): string | null {
  const { target, executable, sign, openpgp, earlier, out } = options;
  const tools = lackingTools({ image: hasImage, signature: sign !== undefined, repositories: openpgp !== undefined });
  if (tools !== null) return tools;
  const unknown = target.find((name) => !targets.some((known) => known.name === name));
  if (unknown !== undefined)
    return `error: there is no platform ${unknown}\n  hint: name one of ${TARGETS.map(({ name }) => name).join(", ")}`;
  const file = [executable, sign, openpgp, earlier].find((path) => path !== undefined && !existsSync(path));
  if (file !== undefined) return `error: there is no file ${file}\n  hint: name one that exists`;
  if (earlier !== undefined && resolve(earlier) === resolve(out))
    return "error: --earlier is the folder of the new release\n  hint: name another one with --out";
  if (hasImage && process.getuid?.() !== 0)
    return "error: images need root\n  hint: run this as root; or make no image with --without-image";
  return null;
}
