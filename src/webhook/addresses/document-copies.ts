import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../errors.ts";
import type { FollowedDocument } from "./followed-documents.ts";

/** Keeps the last good content of documents as JSON, so that a start needs neither the network nor an intact file. */
export interface DocumentCopies<Content> {
  /** The content, and when it was read, in Unix milliseconds. Null if there is none, or if it is damaged. */
  read(document: Pick<FollowedDocument, "id">): (Content & { readAt: number }) | null;
  write(document: Pick<FollowedDocument, "id" | "name">, content: Content, readAt: number): Promise<void>;
}

/** How the content of documents is kept. */
interface CopyFormat<Content> {
  /** The folder in the data directory. */
  folder: string;
  /** The member with the name of the document. */
  nameMember: string;
  /** Reads the text of a copy. Throws if it is damaged. */
  parse(text: string): Content;
  /** The members with the content. */
  members(content: Content): object;
}

/** Opens the copies in a folder of a data directory. */
export function openDocumentCopies<Content extends object>(
  dataDir: string,
  { folder: folderName, nameMember, parse, members }: CopyFormat<Content>,
): DocumentCopies<Content> {
  const folder = join(dataDir, folderName);
  const fileOf = (id: string) => join(folder, `${id}.json`);
  return {
    read({ id }) {
      try {
        const text = readFileSync(fileOf(id), "utf8");
        const readAt = Date.parse((JSON.parse(text) as { readAt: string }).readAt);
        return Number.isNaN(readAt) ? null : { ...parse(text), readAt };
      } catch {
        return null;
      }
    },
    async write({ id, name }, content, readAt) {
      const copy = { [nameMember]: name, readAt: new Date(readAt).toISOString(), ...members(content) };
      await makeFolder(folder);
      await replace(fileOf(id), `${JSON.stringify(copy)}\n`);
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
