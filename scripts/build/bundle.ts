import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, join, relative } from "node:path";
import { build, type Plugin, transform } from "esbuild";
import { APP_PRESET_NAMES } from "../../src/auth/clients/preset-files.ts";
import { PROVIDER_NAMES } from "../../src/webhook/provider-files.ts";

export const ROOT = join(import.meta.dirname, "../..");
const SRC = join(ROOT, "src");
const PLATFORM = join(SRC, "platform");

/** The file of each native add-on, by its name in `platform/addons.ts`. */
export type AddonFiles = Record<string, string>;

/** Modules that load a native add-on, with the code that replaces them in the binary. */
const LOADERS: { module: RegExp; addon: string; code: (load: string) => string }[] = [
  {
    module: /better-sqlite3\/lib\/binding\.js$/,
    addon: "better-sqlite3",
    code: (load) => `let addon; exports.getBinding = () => (addon ??= ${load});`,
  },
  { module: /@node-rs\/argon2\/index\.js$/, addon: "argon2", code: (load) => `module.exports = ${load};` },
  { module: /@node-rs\/bcrypt\/binding\.js$/, addon: "bcrypt", code: (load) => `module.exports = ${load};` },
];

/** Modules that load a package when it is first needed, with the code that replaces them in the binary. */
const LAZY: [module: RegExp, code: string][] = [
  [/[\\/]load-jsonata\.ts$/, `export const loadJsonata = () => require("jsonata");`],
  [/[\\/]load-string-width\.ts$/, `export const loadStringWidth = () => require("string-width").default;`],
];

/** Modules that list the files of a folder, with the code that replaces them in the binary. */
const NAMED_FILES = [
  {
    module: /[\\/]src[\\/]webhook[\\/]provider-files\.ts$/,
    dir: join(SRC, "webhook"),
    contents: filesInside("providers", PROVIDER_NAMES, { names: "PROVIDER_NAMES", load: "loadProvider" }),
  },
  {
    module: /[\\/]src[\\/]auth[\\/]clients[\\/]preset-files\.ts$/,
    dir: join(SRC, "auth/clients"),
    contents: filesInside("presets", APP_PRESET_NAMES, { names: "APP_PRESET_NAMES", load: "loadAppPreset" }),
  },
];

const packagedAsBinary: Plugin = {
  name: "packaged as a binary",
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      if (kind !== "dynamic-import" || isBuiltin(path)) return undefined;
      const file = relative(ROOT, importer);
      const text = `${file} imports the package ${path} at runtime: import a file that exports what is needed of it, because in a chunk a CommonJS package has its default export only`;
      return { errors: [{ text }] };
    });
    builder.onLoad({ filter: /[\\/]src[\\/]platform[\\/]checkout\.ts$/ }, () => ({
      contents: `export * from "./binary.ts";`,
      resolveDir: PLATFORM,
      loader: "ts",
    }));
    for (const { module, dir, contents } of NAMED_FILES)
      builder.onLoad({ filter: module }, () => ({ contents, resolveDir: dir, loader: "js" }));
    for (const [module, code] of LAZY) {
      builder.onLoad({ filter: module }, () => ({ contents: code, resolveDir: SRC, loader: "js" }));
    }
    for (const { module, addon, code } of LOADERS) {
      builder.onLoad({ filter: module }, () => ({
        contents: code(`require("./addons.ts").loadAddon(${JSON.stringify(addon)})`),
        resolveDir: PLATFORM,
        loader: "js",
      }));
    }
  },
};

/** The code that replaces a list of files: each is in the bundle, and runs when it is first asked for. */
function filesInside(folder: string, names: readonly string[], exported: { names: string; load: string }): string {
  const loaders = names.map((name) => `"${name}": () => require("./${folder}/${name}.ts")`);
  return `
const loaders = { ${loaders.join(", ")} };
export const ${exported.names} = Object.keys(loaders);
export const ${exported.load} = (name) => loaders[name]().default;
`;
}

const OPTIONS = { platform: "node", target: "node24", minifySyntax: true, minifyWhitespace: true } as const;

/**
 * Bundles entries, files in `src` by their names, with all their imports. What is imported while the program runs, or
 * by several entries, is a chunk of its own: compiling the code of all commands would double the time of each. Returns
 * the CommonJS text of each entry and chunk by its file name, see `loader.ts`.
 */
export async function bundle(entries: Record<string, string>, addons: AddonFiles): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    ...OPTIONS,
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(SRC, file)])),
    bundle: true,
    splitting: true,
    write: false,
    outdir: "/",
    format: "esm",
    legalComments: "none",
    define: { "import.meta.main": "false", ADDONS: JSON.stringify(fingerprints(addons)) },
    plugins: [packagedAsBinary],
    logLevel: "warning",
  });
  // esbuild splits ES modules only, which an executable cannot import. A module of a user is still imported.
  const chunks = outputFiles.map(async ({ path, text }) => {
    const required = text.replace(/\bimport\(("\.\/[\w-]+\.js")\)/g, "Promise.resolve().then(() => require($1))");
    const { code } = await transform(required, { ...OPTIONS, format: "cjs" });
    return [basename(path), asciiOnly(code)] as const;
  });
  return Object.fromEntries(await Promise.all(chunks));
}

/**
 * Escapes non-ASCII characters, which esbuild leaves in patterns. One beyond Latin-1 makes V8 store the text with two
 * bytes per character.
 */
function asciiOnly(code: string): string {
  return code.replace(/[^\p{ASCII}]/gu, (text) =>
    [...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}

function fingerprints(addons: AddonFiles): Record<string, { sha256: string; bytes: number }> {
  return Object.fromEntries(
    Object.entries(addons).map(([name, file]) => {
      const content = readFileSync(file);
      return [name, { sha256: createHash("sha256").update(content).digest("hex"), bytes: content.length }];
    }),
  );
}
