import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Server } from "node:https";
import { describeError, SettingsError, systemCode } from "../errors.ts";
import { faultOfPair, type PemPair, readPemFile } from "../lib/pem.ts";
import type { Log } from "../log.ts";

/** The oldest version of TLS that is spoken, before and after a certificate was renewed. */
export const MIN_TLS_VERSION = "TLSv1.2";

const WATCH_INTERVAL_MS = 1000;

/** The certificate and key that are served, as files that may be renewed at any time. */
export interface TlsFiles {
  /** The pair as it stands. Throws {@link SettingsError} when it is unreadable or does not belong together. */
  read(): PemPair;
  /**
   * Takes a pair that changed since it was last read into use without dropping a connection; a bad one is logged and the
   * old one stays. Returns a function that ends the watch.
   */
  watch(server: Server, log: Log): () => void;
}

const RETRY_MS = 60_000;

/**
 * Takes the paths of a PEM certificate chain and its key. Nothing is read before `read` or `watch` is called; a change is
 * seen within a second, and a pair that cannot be used is tried again each minute.
 */
export function createTlsFiles(certFile: string, keyFile: string): TlsFiles {
  const files = [certFile, keyFile];
  let versionRead: string | undefined;

  function read() {
    // Before the content: what changes while it is read is then read again.
    versionRead = files.map(versionNow).join();
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
          // The cause may pass without another change of the files, e.g. when descriptors had run out.
          retry = setTimeout(reload, RETRY_MS).unref();
        }
      };

      // Polling sees what every way of renewing does: rename, symbolic link, rewrite in place.
      let ended = false;
      let next: NodeJS.Timeout | undefined;
      const look = async () => {
        const version = (await Promise.all(files.map(versionSoon))).join();
        if (ended) return;
        if (version !== versionRead) reload();
        next = setTimeout(look, WATCH_INTERVAL_MS).unref();
      };
      look();
      return () => {
        ended = true;
        clearTimeout(next);
        clearTimeout(retry);
      };
    },
  };
}

function versionNow(file: string): string {
  try {
    return versionOf(statSync(file, { bigint: true }));
  } catch (error) {
    return systemCode(error);
  }
}

/** Like {@link versionNow}, but leaves the event loop alone while a slow disk answers. */
async function versionSoon(file: string): Promise<string> {
  return stat(file, { bigint: true }).then(versionOf, systemCode);
}

/** Differs between any two versions of a file. */
function versionOf(stats: BigIntStats): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  // What is no file, e.g. the pipe of a shell, can be read only once.
  return stats.isFile() ? `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}` : "no file";
}
