import { TABLES } from "../../src/storage/tables.ts";

/** The part of `/readyz` whose check tries a table, on either store. */
export const partOfTable = (table: string): string => TABLES.find(({ name }) => name === table)?.part ?? "events";
