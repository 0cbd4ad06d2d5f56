import { type AddressList, parseAddressList } from "./address-list.ts";
import { openDocumentCopies } from "./document-copies.ts";

/** The last good content of a list. */
interface AddressCopy {
  addresses: string[];
  /** When the list was last read without an error, in Unix milliseconds. */
  readAt: number;
}

/** Keeps the last good content of lists. */
export interface AddressCopies {
  /** Null if there is none, or if it is damaged. */
  read(list: Pick<AddressList, "id">): AddressCopy | null;
  write(list: Pick<AddressList, "id" | "name">, copy: AddressCopy): Promise<void>;
}

/** Opens the copies in a data directory. */
export function openAddressCopies(dataDir: string): AddressCopies {
  const copies = openDocumentCopies(dataDir, "address-lists");
  return {
    read({ id }) {
      try {
        const text = copies.read(id);
        const readAt = Date.parse((JSON.parse(text) as { readAt: string }).readAt);
        return Number.isNaN(readAt) ? null : { addresses: parseAddressList(text, "addresses"), readAt };
      } catch {
        return null;
      }
    },
    async write({ id, name }, { addresses, readAt }) {
      await copies.write(id, { list: name, readAt: new Date(readAt).toISOString(), addresses });
    },
  };
}
