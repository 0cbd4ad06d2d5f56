import assert from "node:assert/strict";
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";
import Sqlite from "better-sqlite3";

const PAGE_BYTES = 4096;

/** Flips the highest bit of the first byte, which is the page type, in every page except the first. */
export function flipBits(file: string): void {
  const fd = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  for (let at = PAGE_BYTES; at < fstatSync(fd).size; at += PAGE_BYTES) {
    readSync(fd, byte, 0, 1, at);
    byte[0] = (byte[0] as number) ^ 0x80;
    writeSync(fd, byte, 0, 1, at);
  }
  closeSync(fd);
}

/** Removes the newest event from the index that finds duplicates, like a lost write to one of its pages. */
export function loseIndexEntry(file: string): void {
  const database = new Sqlite(file).unsafeMode(true);
  database.pragma("writable_schema = ON");
  const entry = database.prepare("SELECT * FROM sqlite_schema WHERE name = 'events_identity'").get();
  const setAside = database.prepare("DELETE FROM sqlite_schema WHERE name = 'events_identity'");
  const putBack = database.prepare(
    "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (@type, @name, @tbl_name, @rootpage, @sql)",
  );
  setAside.run();
  database.pragma("writable_schema = RESET");
  database.exec("UPDATE events SET event_id = event_id || '-lost' WHERE id = (SELECT max(id) FROM events)");
  database.pragma("writable_schema = ON");
  putBack.run(entry);
  database.close();
}

/** Overwrites the first occurrence of a text in a file. */
export function overwrite(file: string, text: string, other: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(text);
  assert.notEqual(at, -1, `${file} does not hold ${text}`);
  bytes.write(other, at, "latin1");
  writeFileSync(file, bytes);
}

/** Like {@link flipBits}, only for the first page that contains a text. */
export function flipPageWith(file: string, text: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(text);
  assert.notEqual(at, -1, `${file} does not hold ${text}`);
  const page = at - (at % PAGE_BYTES);
  bytes[page] = (bytes[page] as number) ^ 0x80;
  writeFileSync(file, bytes);
}
