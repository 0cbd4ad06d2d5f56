import { constants, copyFileSync, linkSync } from "node:fs";
import { systemCode } from "./errors.ts";

// Of file systems without hard links, e.g. exFAT and some network shares, and of a file that has too many.
const NO_LINK = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** Gives a file a second name, or makes a copy of that name where there are no links. Throws EEXIST when the name is taken. */
export function linkOrCopy(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (!NO_LINK.includes(systemCode(error))) throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
  }
}
