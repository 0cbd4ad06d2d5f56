import { existsSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../helpers/back-end.ts";

/** The files for containers and services. */
export const DEPLOY = join(import.meta.dirname, "../../deploy");

/** The packages of this folder: schemas of others. */
export const PACKAGES = join(import.meta.dirname, "node_modules");

export const needsReleasePackages = () =>
  needs("the schemas", () => existsSync(PACKAGES), "its packages are missing: npm ci --prefix test/release");
