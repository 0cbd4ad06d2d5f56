import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Component, productionComponents } from "../../src/platform/licences.ts";
import { bundlePage, bundlePasskeyScript } from "../../src/platform/page-bundle.ts";
import { renderSite } from "../../src/platform/site/render.ts";
import { ROOT } from "./bundle.ts";
import { buildExecutable } from "./executable.ts";
import { ownTarget, type Target } from "./targets.ts";

/** The folder of what is built. */
export const DIST = join(ROOT, "dist");

/** Builds the executable of a target, with its page and licences. */
export async function buildProgram(
  target: Target,
  options: { output: string; scratch: string; nodeArchive?: string | undefined },
): Promise<void> {
  rmSync(options.output, { force: true });
  const { scripts, style } = await bundlePage();
  const site = await renderSite(ROOT);
  const files = {
    "licenses.json": JSON.stringify(componentsOf(target)),
    "page.en.js": scripts.en.toString(),
    "page.es.js": scripts.es.toString(),
    "page.css": style.toString(),
    "site.json": JSON.stringify(Object.keys(site)),
    ...Object.fromEntries(
      Object.entries(site).map(([name, content]) => [`site/${name}`, gzipSync(content, { level: 9 })]),
    ),
    "passkeys.js": (await bundlePasskeyScript()).toString(),
  };
  await buildExecutable(target, { files, ...options });
}

/** The production packages of a target: those of this machine, with the target's platform packages. */
export function componentsOf(target: Target): Component[] {
  const { napi: own } = ownTarget();
  return productionComponents(ROOT, (name) => {
    if (name.startsWith("node-") && existsSync(join(ROOT, "node_modules", name, "bin"))) return target.nodePackage;
    return name.endsWith(`-${own}`) ? name.replace(own, target.napi) : name;
  });
}
