import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BuildOptions, OutputFile, Plugin } from "esbuild";

/** The languages of the page. */
const PAGE_LANGUAGES = ["en", "es"] as const;

/** The page as it is sent to browsers. */
export interface PageFiles {
  /** By language. */
  scripts: Record<(typeof PAGE_LANGUAGES)[number], Buffer>;
  style: Buffer;
}

const ENTRY = join(import.meta.dirname, "../admin/page/app.tsx");

/**
 * Leaves out what uPlot has for plugins, which the page has none of: 3 kB. esbuild keeps members that are assigned. So
 * there is no `uPlot.paths`: the page has only lines, and what it draws itself.
 */
const withoutPlugins: Plugin = {
  name: "uPlot without plugins",
  setup(builder) {
    builder.onLoad({ filter: /[/\\]uPlot\.esm\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const [from, to] = [text.indexOf("\nuPlot.assign = assign;"), text.lastIndexOf("\nexport ")];
      if (from < 0 || to < from) throw new Error("uPlot has changed: look up what the page needs of it");
      return { contents: text.slice(0, from) + text.slice(to) };
    });
  },
};

/** Bundles the page with its packages, for each language. */
export async function bundlePage(): Promise<PageFiles> {
  const [en, es] = await Promise.all([bundleIn("en"), bundleIn("es")]);
  return { scripts: { en: en.script, es: es.script }, style: en.style };
}

const PASSKEYS = join(import.meta.dirname, "../auth/browser/script/passkeys.ts");

/** Bundles the script of the pages that offer passkeys. */
export async function bundlePasskeyScript(): Promise<Buffer> {
  return bundleScript(PASSKEYS);
}

const SEARCH = join(import.meta.dirname, "site/browser/search.ts");

/** Bundles the script that searches the manual. */
export async function bundleSearchScript(): Promise<Buffer> {
  return bundleScript(SEARCH);
}

async function bundleScript(entry: string): Promise<Buffer> {
  const [script] = await bundleFiles({ entryPoints: [entry], format: "iife" });
  if (!script) throw new Error(`the bundle of ${entry} is empty`);
  return Buffer.from(script.contents);
}

async function bundleIn(language: (typeof PAGE_LANGUAGES)[number]): Promise<{ script: Buffer; style: Buffer }> {
  const outputFiles = await bundleFiles({
    entryPoints: [ENTRY],
    format: "esm",
    // The words of the other language are left out.
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { PAGE_LANGUAGE: JSON.stringify(language) },
    plugins: [withoutPlugins],
  });
  const [script, style] = [".js", ".css"].map((extension) => outputFiles.find(({ path }) => path.endsWith(extension)));
  if (!script || !style) throw new Error("the bundle of the page has no script or no style");
  return { script: Buffer.from(script.contents), style: Buffer.from(style.contents) };
}

/** Bundles for browsers, without writing files. */
async function bundleFiles(options: BuildOptions): Promise<OutputFile[]> {
  const { build } = await import("esbuild").catch(() => {
    throw new Error("the page cannot be built without esbuild: run npm ci without --omit=dev, or use the executable");
  });
  const { outputFiles } = await build({
    ...options,
    outdir: "/",
    bundle: true,
    write: false,
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    logLevel: "silent",
  });
  return outputFiles;
}
