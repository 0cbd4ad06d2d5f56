import type { MessagePort } from "node:worker_threads";
import { openDatabase } from "../sqlite/database.ts";
import { createRemote, type Remote } from "../threads/remote.ts";
import { type Stores, storesBehind } from "./proxies.ts";

/** The stores that another thread of this process has opened. */
export interface JoinedStorage extends Stores {
  /** Writes through this port from now on. */
  use(port: MessagePort): void;
  close(): void;
}

/**
 * Joins the storage that another thread has opened: writes go through a port to the storage thread, reads of every
 * request stay on this thread. While there is no storage thread behind the port, calls fail with `store_unavailable`.
 */
export function joinStorage(dataDir: string, port: MessagePort): JoinedStorage {
  const reader = openDatabase(dataDir, { isOpen: true });
  let remote = remoteAt(port);
  return {
    ...storesBehind(() => remote, reader),
    use(replacement) {
      remote.fail(gone());
      remote = remoteAt(replacement);
    },
    close() {
      reader.close();
    },
  };
}

function remoteAt(port: MessagePort): Remote {
  const remote = createRemote(port);
  port.on("close", () => remote.fail(gone()));
  return remote;
}

const gone = () => new Error("the storage thread ended");
