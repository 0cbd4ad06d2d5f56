import { unwatchFile, watchFile } from "node:fs";
import type { Server } from "node:https";
import { describeError, SettingsError } from "../errors.ts";
import type { Log } from "../log.ts";
import { faultOfPair, type PemPair, readPemFile } from "../pem-file.ts";

/** The oldest version of TLS that is spoken, before and after a certificate was renewed. */
export const MIN_TLS_VERSION = "TLSv1.2";

const WATCH_INTERVAL_MS = 1000;

/** The certificate and key that are served, as files that may be renewed at any time. */
export interface TlsFiles {
  /** The pair as it stands. Throws {@link SettingsError} when it is unreadable or does not belong together. */
  read(): PemPair;
  /** Takes a changed pair into use without dropping a connection; a bad one is logged and the old one stays. Returns a function that ends the watch. */
  watch(server: Server, log: Log): () => void;
}

const RETRY_MS = 60_000;

/**
 * Takes the paths of a PEM certificate chain and its key. Nothing is read before `read` or `watch` is called; a change is
 * seen within a second, and a pair that cannot be used is tried again each minute.
 */
export function createTlsFiles(certFile: string, keyFile: string): TlsFiles {
  function read() {
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
      const files = [certFile, keyFile];
      // Polling sees what every way of renewing does: rename, symbolic link, rewrite in place.
      for (const file of files) watchFile(file, { interval: WATCH_INTERVAL_MS, persistent: false }, reload);
      return () => {
        clearTimeout(retry);
        for (const file of files) unwatchFile(file, reload);
      };
    },
  };
}
