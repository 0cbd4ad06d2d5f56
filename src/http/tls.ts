import type { Server } from "node:https";
import { describeError, SettingsError } from "../errors.ts";
import { faultOfPair, readPemFile } from "../lib/pem.ts";
import { createWatchedFiles } from "../lib/watched-files.ts";
import type { Log } from "../log.ts";

/** The oldest accepted version of TLS. A reload of the certificate must set it again. */
export const MIN_TLS_VERSION = "TLSv1.2";

const RETRY_MS = 60_000;

/**
 * Takes the paths of a PEM certificate chain and its key. A change is noticed within a second. A pair that cannot be
 * used is tried again every minute.
 */
export function createTlsFiles(certFile: string, keyFile: string) {
  const files = createWatchedFiles(() => [certFile, keyFile]);
  const read = () =>
    files.reading(() => {
      const pair = { cert: readPemFile("TLS_CERT_FILE", certFile), key: readPemFile("TLS_KEY_FILE", keyFile) };
      const fault = faultOfPair(pair);
      if (fault) throw new SettingsError([fault]);
      return pair;
    });

  return {
    /** Reads the pair. Throws {@link SettingsError} when it is unreadable, or the key is not the certificate's. */
    read,
    /**
     * Reloads the pair whenever it changes, without closing connections. A bad pair is logged and the old one stays in
     * use. Returns a function that ends the watch.
     */
    watch(server: Server, log: Log): () => void {
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
      const unwatch = files.watch(reload);
      return () => {
        unwatch();
        clearTimeout(retry);
      };
    },
  };
}

/** The files of the certificate and key. They may be renewed at any time. */
export type TlsFiles = ReturnType<typeof createTlsFiles>;
