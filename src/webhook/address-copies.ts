import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../errors.ts";
import { type AddressList, parseAddressList } from "./address-list.ts";

/** The last good content of a list. */
export interface AddressCopy {
  addresses: string[];
  /** When the list was last read without an error, in Unix milliseconds. */
  readAt: number;
}

/** Keeps the last good content of lists, so that a start needs neither the network nor an intact file. */
export interface AddressCopies {
  /** Null if there is none, or if it is damaged. */
  read(list: Pick<AddressList, "id">): AddressCopy | null;
  write(list: Pick<AddressList, "id" | "name">, copy: AddressCopy): Promise<void>;
}

/** The folder of the copies, in the data directory. */
export const COPIES_FOLDER = "address-lists";

/** Opens the copies in a data directory. */
export function openAddressCopies(dataDir: string): AddressCopies {
  const folder = join(dataDir, COPIES_FOLDER);
  const fileOf = ({ id }: Pick<AddressList, "id">) => join(folder, `${id}.json`);
  return {
    read(list) {
      try {
        const text = readFileSync(fileOf(list), "utf8");
        const readAt = Date.parse((JSON.parse(text) as { readAt: string }).readAt);
        return Number.isNaN(readAt) ? null : { addresses: parseAddressList(text, "addresses"), readAt };
      } catch {
        return null;
      }
    },
    async write(list, { addresses, readAt }) {
      await makeFolder(folder);
      const content = { list: list.name, readAt: new Date(readAt).toISOString(), addresses };
      await replace(fileOf(list), `${JSON.stringify(content)}\n`);
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
