import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import Sqlite from "better-sqlite3";

const PAGE_BYTES = 4096;

/** Flips the highest bit of the first byte of every page but the first: the byte that says what kind of page it is. */
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

/** Takes the newest event out of the index that finds duplicates, as a lost write to one of its pages would. */
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
