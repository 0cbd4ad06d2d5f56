import { describeError, systemCode } from "../errors.ts";
import type { EventStore, PurgedPage, PurgeRequest } from "../events/store.ts";
import type { Log } from "../log.ts";
import { keyNote } from "../storage/encryption.ts";
import type { StoreChecks } from "../storage/faults.ts";
import { createPayloadCodec, type EncryptionKey, type PayloadCodec } from "../storage/payload-codec.ts";
import { lockForServer } from "./data-dir.ts";
import { type Database, type OpenOptions, openDatabase, openForCommands } from "./database.ts";
import { eventRetention } from "./event-retention.ts";
import { watchFiles } from "./file-watch.ts";
import { watchLogSize } from "./log-size.ts";
import { readNewest } from "./maintenance/inspect.ts";
import { recoverRestore } from "./maintenance/restore.ts";
import { openFilesOf } from "./open-files.ts";
import { createRun } from "./queries.ts";
import { giveBackIfFull } from "./reserve.ts";
import { localStores, type SqliteStores, storesOnThreads } from "./stores.ts";
import { createReadThread, type StartThread, startStorageThread, type ThreadClient } from "./thread-client.ts";
import { monitorWrites } from "./writes.ts";

interface ServerOptions {
  dataDir: string;
  /** `MIN_FREE_DISK`; undefined for the default. */
  minFreeBytes: number | undefined;
  /** `ENCRYPTION_KEYS`: the first one encrypts. */
  keys?: readonly EncryptionKey[];
  startThread: StartThread;
  log: Log;
}

interface SqliteServerStores extends SqliteStores {
  /** Identifies the database among servers that share a Redis. */
  id: string;
  checks: StoreChecks;
  /** The size of the write-ahead log. */
  logBytes(): number;
  /** When the newest event before the start was received. */
  newestEventAt: number | null;
}

/**
 * Opens the stores of a data directory for its server. Writes go to the storage thread, so that a commit never delays a
 * request. A connection on this thread serves the reads that every request needs.
 * Throws {@link OperatorError} with nothing left open.
 */
export async function openForServer(options: ServerOptions): Promise<SqliteServerStores> {
  const { dataDir, minFreeBytes, keys = [], startThread, log } = options;
  giveBackIfFull(dataDir);
  const closings: (() => unknown)[] = [];
  /** Closes what is open, the last first. */
  const close = async () => {
    for (const closeOne of closings.toReversed()) await closeOne();
  };
  try {
    const lock = lockForServer(dataDir);
    closings.push(lock.release);
    recoverRestore(dataDir);
    const reader = openDatabase(dataDir, { checked: true, log });
    closings.push(() => reader.close());
    const newestEventAt = readNewest(reader);
    const codec = createPayloadCodec(keys);
    noteKeyIfPossible(reader, codec);
    const files = openFilesOf(reader);
    const thread = await startStorageThread(startThread, { dataDir, files, minFreeBytes, keys }, log);
    closings.push(thread.close);
    await releaseStaleLeases(thread, log);
    const readThread = createReadThread(startThread, { file: reader.name, keys });
    closings.push(readThread.close);
    const logSize = watchLogSize(reader.name, log);
    closings.push(logSize.stop);
    const fileWatch = watchFiles({ dataDir, files, lock, thread, log });
    closings.push(fileWatch.stop);
    const connections = { thread, readThread, reader, codec, dataDir, requireLock: fileWatch.requireLock };
    const stores = storesOnThreads(connections, close);
    const { dev, ino } = files[""];
    return { ...stores, id: `${dev}-${ino}`, logBytes: logSize.bytes, newestEventAt };
  } catch (error) {
    await close();
    throw error;
  }
}

/** On a full disk the key is noted at a later start. */
function noteKeyIfPossible(database: Database, { keyId }: PayloadCodec): void {
  try {
    if (keyId !== null) createRun(database)(keyNote(keyId, Date.now()));
  } catch (error) {
    if (!/^SQLITE_(?:FULL|IOERR|READONLY|BUSY)/.test(systemCode(error))) throw error;
  }
}

/**
 * Ends the leases of an earlier process. The lock on the data directory proves that no other server runs. If the disk
 * is full, the leases expire by themselves.
 */
async function releaseStaleLeases(thread: ThreadClient, log: Log): Promise<void> {
  try {
    await thread.call("events", "releaseAll", [Date.now()]);
  } catch (error) {
    const line = { event: "worker_error" as const, error: describeError(error) };
    log.error(line, "cannot end the leases of an earlier process");
  }
}

/** Opens the stores of a data directory for a command. A server may be running. */
export function openForCommand(
  dataDir: string,
  options: OpenOptions,
  keys: readonly EncryptionKey[] = [],
): SqliteStores {
  const database = openForCommands(dataDir, options);
  const codec = createPayloadCodec(keys);
  const { events, ...others } = localStores(database, undefined, codec, dataDir);
  return { ...others, events: { ...events, purge: commandPurge(database) } };
}

/**
 * A purge that keeps the write-ahead log small on a full disk, as a server does. Few commands purge, so it is made
 * late.
 */
function commandPurge(database: Database): EventStore["purge"] {
  let purge: ((request: PurgeRequest) => PurgedPage) | undefined;
  return async (request) => {
    purge ??= monitoredPurge(database);
    return purge(request);
  };
}

function monitoredPurge(database: Database): (request: PurgeRequest) => PurgedPage {
  const { purge } = eventRetention(database);
  const writes = monitorWrites(database, { inPlace() {}, minFreeBytes: undefined });
  return (request) => writes.run(() => purge(request));
}
