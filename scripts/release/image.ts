import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import type { Target } from "../build/targets.ts";
import { ADDON_DIR, architectureOf, DATA_DIR, layOutOwned, layOutSystem, USER } from "./image-root.ts";

/** An executable for Linux that becomes an image. */
export interface ImageSource {
  target: Target;
  executable: string;
}

interface ImageOptions {
  /** The folder for the archives. */
  output: string;
  /** A folder for what is needed only during the build. */
  scratch: string;
  /** The commit, a label of the images. */
  commit: string;
  /** The time of the images and of every file in them, in seconds since 1970. A fixed time makes builds identical. */
  time: number;
}

/**
 * Builds the image of each executable: it, Debian's C and C++ libraries, certificate authorities and time zones, and
 * nothing else. Writes an archive of each, for `docker load` and `podman load`, and one archive of all in the OCI
 * format, for registries. Returns their names. Needs root, buildah and apt.
 */
export function buildImage(sources: readonly ImageSource[], options: ImageOptions): string[] {
  const { output, time } = options;
  const umask = process.umask(0o022);
  const scratch = mkdtempSync(join(options.scratch, "image-"));
  const storage = ["--root", join(scratch, "storage"), "--runroot", join(scratch, "run")];
  const buildah = (...args: string[]) =>
    execFileSync("buildah", [...storage, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
  const { version } = packageJson;
  try {
    buildah("manifest", "create", "authserve");
    for (const { target, executable } of sources) {
      const container = buildah("from", "--arch", architectureOf(target), "scratch");
      const owned = mkdtempSync(join(scratch, "owned-"));
      const system = mkdtempSync(join(scratch, "system-"));
      layOutOwned(owned, target, scratch);
      layOutSystem(system, target, executable, scratch);
      // The folders that both have belong to the owner of the second copy.
      buildah("copy", "--quiet", "--chown", USER, container, owned, "/");
      buildah("copy", "--quiet", "--chown", "0:0", container, system, "/");
      buildah("config", ...configuration(options), container);
      const fixed = ["--timestamp", String(time), "--identity-label=false"];
      buildah("commit", "--quiet", ...fixed, "--format", "oci", "--manifest", "authserve", "--rm", container);
    }
    const layout = join(scratch, "layout");
    buildah("manifest", "push", "--quiet", "--all", "--format", "oci", "authserve", `oci:${layout}:${version}`);
    const files = sources.map(({ target }, index) => {
      const file = `authserve-${version}-image-${architectureOf(target)}.tar`;
      pack(loadable(layout, index, mkdtempSync(join(scratch, "load-"))), join(output, file), time);
      return file;
    });
    const all = `authserve-${version}-image-oci.tar`;
    pack(layout, join(output, all), time);
    return [...files, all];
  } finally {
    process.umask(umask);
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The arguments that configure an image. */
function configuration({ commit, time }: ImageOptions): string[] {
  const labels = {
    title: packageJson.name,
    description: packageJson.description,
    licenses: packageJson.license,
    version: packageJson.version,
    revision: commit,
    created: new Date(time * 1000).toISOString(),
  };
  // The add-ons in CACHE_DIRECTORY serve the image's user. For another user they are unpacked into DATA_DIR.
  const environment = { PATH: "/usr/local/bin", HOST: "0.0.0.0", DATA_DIR, CACHE_DIRECTORY: ADDON_DIR };
  return [
    ...Object.entries(labels).flatMap(([label, value]) => ["--label", `org.opencontainers.image.${label}=${value}`]),
    ...Object.entries(environment).flatMap(([variable, value]) => ["--env", `${variable}=${value}`]),
    ...["--user", USER, "--workingdir", DATA_DIR, "--volume", DATA_DIR, "--port", "3000"],
    ...["--entrypoint", '["/usr/local/bin/authserve"]', "--cmd", "serve", "--stop-signal", "SIGTERM"],
  ];
}

const SECOND_NS = 1_000_000_000;

/** The OCI format has no health check. Docker and Podman read this one from the archives for them. */
const HEALTH_CHECK = {
  Test: ["CMD", "/usr/local/bin/authserve", "ready"],
  Interval: 30 * SECOND_NS,
  Timeout: 15 * SECOND_NS,
  StartPeriod: 30 * SECOND_NS,
  Retries: 3,
};

interface Descriptor {
  digest: string;
}

/** Writes one image of an OCI layout into a folder, in the form of `docker save` (Docker Image Specification 1.2). */
function loadable(layout: string, index: number, folder: string): string {
  const blob = ({ digest }: Descriptor) => join(layout, "blobs", digest.replace(":", "/"));
  const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const [list] = read(join(layout, "index.json")).manifests as Descriptor[];
  const manifest = read(blob(read(blob(list as Descriptor)).manifests[index])) as {
    config: Descriptor;
    layers: Descriptor[];
  };
  const config = read(blob(manifest.config));
  const text = JSON.stringify({ ...config, config: { ...config.config, Healthcheck: HEALTH_CHECK } });
  const configFile = `${createHash("sha256").update(text).digest("hex")}.json`;
  writeFileSync(join(folder, configFile), text);
  const layers = manifest.layers.map((layer, at) => {
    copyFileSync(blob(layer), join(folder, `layer-${at}.tar.gz`));
    return `layer-${at}.tar.gz`;
  });
  const tags = [packageJson.version, "latest"].map((tag) => `localhost/authserve:${tag}`);
  writeFileSync(
    join(folder, "manifest.json"),
    JSON.stringify([{ Config: configFile, RepoTags: tags, Layers: layers }]),
  );
  return folder;
}

/** Packs a folder, with fixed order, owner, modes and times. */
function pack(folder: string, file: string, time: number): void {
  const fixed = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${time}`, "--mode=u=rwX,go=rX"];
  const names = readdirSync(folder).sort();
  execFileSync("tar", [...fixed, "-cf", file, "-C", folder, ...names]);
}
