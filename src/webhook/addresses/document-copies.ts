import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../errors.ts";

/** Keeps the last good content of documents as JSON, so that a start needs neither the network nor an intact file. */
export interface DocumentCopies {
  /** The text of a copy. Throws if there is none. */
  read(id: string): string;
  write(id: string, content: object): Promise<void>;
}

/** Opens the copies in a folder of a data directory. */
export function openDocumentCopies(dataDir: string, folderName: string): DocumentCopies {
  const folder = join(dataDir, folderName);
  const fileOf = (id: string) => join(folder, `${id}.json`);
  return {
    read: (id) => readFileSync(fileOf(id), "utf8"),
    async write(id, content) {
      await makeFolder(folder);
      await replace(fileOf(id), `${JSON.stringify(content)}\n`);
    },
  };
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== "EEXIST") throw error;
  });
}

/** Replaces a file atomically, without blocking requests on a slow disk. */
async function replace(file: string, content: string): Promise<void> {
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    await writeFile(partial, content, { mode: 0o600, flag: "wx", flush: true });
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
