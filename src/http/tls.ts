import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Server } from "node:https";
import { describeError, SettingsError, systemCode } from "../errors.ts";
import { faultOfPair, type PemPair, readPemFile } from "../lib/pem.ts";
import type { Log } from "../log.ts";

/** The oldest accepted version of TLS. A reload of the certificate must set it again. */
export const MIN_TLS_VERSION = "TLSv1.2";

const WATCH_INTERVAL_MS = 1000;

/** The files of the certificate and key. They may be renewed at any time. */
export interface TlsFiles {
  /** Reads the pair. Throws {@link SettingsError} when it is unreadable, or the key is not the certificate's. */
  read(): PemPair;
  /**
   * Reloads the pair whenever it changes, without closing connections. A bad pair is logged and the old one stays in use.
   * Returns a function that ends the watch.
   */
  watch(server: Server, log: Log): () => void;
}

const RETRY_MS = 60_000;

/**
 * Takes the paths of a PEM certificate chain and its key. A change is noticed within a second. A pair that cannot be used
 * is tried again every minute.
 */
export function createTlsFiles(certFile: string, keyFile: string): TlsFiles {
  const files = [certFile, keyFile];
  let versionRead: string | undefined;

  function read() {
    // Before the content, so that a change during the read causes another reload.
    versionRead = files.map(fileVersionSync).join();
    const pair = { cert: readPemFile("TLS_CERT_FILE", certFile), key: readPemFile("TLS_KEY_FILE", keyFile) };
    const fault = faultOfPair(pair);
    if (fault) throw new SettingsError([fault]);
    return pair;
  }

  return {
    read,
    watch(server, log) {
      let retry: NodeJS.Timeout | undefined;
      const reload = () => {
        clearTimeout(retry);
        try {
          server.setSecureContext({ ...read(), minVersion: MIN_TLS_VERSION });
          log.info({ event: "tls_reloaded" }, "the certificate was reloaded");
        } catch (error) {
          log.error({ event: "tls_reload_failed", error: describeError(error) }, "the old certificate stays in use");
          // The cause may be temporary, e.g. no free file descriptors.
          retry = setTimeout(reload, RETRY_MS).unref();
        }
      };

      // Polling notices every kind of renewal: a rename, a new symbolic link, a rewrite in place.
      let ended = false;
      let next: NodeJS.Timeout | undefined;
      const poll = async () => {
        const version = (await Promise.all(files.map(fileVersion))).join();
        if (ended) return;
        if (version !== versionRead) reload();
        next = setTimeout(poll, WATCH_INTERVAL_MS).unref();
      };
      poll();
      return () => {
        ended = true;
        clearTimeout(next);
        clearTimeout(retry);
      };
    },
  };
}

function fileVersionSync(file: string): string {
  try {
    return versionOf(statSync(file, { bigint: true }));
  } catch (error) {
    return systemCode(error);
  }
}

/** Like {@link fileVersionSync}, without blocking the event loop on a slow disk. */
async function fileVersion(file: string): Promise<string> {
  return stat(file, { bigint: true }).then(versionOf, systemCode);
}

/** A text that changes whenever the file does. */
function versionOf(stats: BigIntStats): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  // Anything else, e.g. a shell's pipe, can be read only once.
  return stats.isFile() ? `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}` : "no file";
}
