import type { Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Settings } from "../config/settings.ts";
import { faultText } from "../errors.ts";
import type { ConnectionLimits } from "../http/connection-limits.ts";
import { closeServer } from "../http/connections.ts";
import { hostOf, isLoopback, listen, urlOf } from "../http/listen.ts";
import { faultOfUnnamedProxy, isTrusted, watchForUnnamedProxy } from "../http/proxies.ts";
import { createRouter, type Router } from "../http/router.ts";
import { createHttpServer } from "../http/server.ts";
import { createTlsFiles } from "../http/tls.ts";
import { createRepeatedError } from "../lib/repeat.ts";
import type { Metrics } from "../metrics.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

/** The HTTP server with its router, which has no endpoints at first. Its stop answers the requests in flight. */
export interface Listener extends Part, Pick<Router, "replaceEndpoints"> {
  server: Server;
  /** The URL, once it has started. `anyHost` is the host to show when the server listens on all addresses. */
  url(anyHost?: string): string;
}

/** Creates the server. It listens from its start. */
export function openListener({ settings, metrics, instance, log }: Wiring): Listener {
  const { PORT, TRUSTED_PROXIES: trustedProxies } = settings;
  const stopping = new AbortController();
  const { listener, refusal, replaceEndpoints } = createRouter([], {
    trustedProxies,
    watchForUnnamedProxy: watchForUnnamedProxy(trustedProxies, (address) => {
      log.warn({ event: "proxy_not_trusted", address }, faultText(faultOfUnnamedProxy(address)));
      instance.update({ unnamedProxy: address });
    }),
    log,
    stopping: stopping.signal,
  });
  const tls = tlsFilesOf(settings);
  const server = createHttpServer(listener, { tls, refusal, connectionLimits: connectionLimitsOf(settings, metrics) });
  const fault = createRepeatedError();
  let port = PORT;
  let unwatch = () => {};
  return {
    server,
    replaceEndpoints,
    url: (anyHost) => urlOf(settings, port, anyHost),
    async start() {
      port = await listen(server, { port: PORT, host: hostOf(settings) }, (cause) => {
        const error = fault.news(cause);
        if (error !== null) log.error({ event: "accept_error", error }, "a connection could not be accepted");
      });
      if (tls !== undefined) unwatch = tls.watch(server as TlsServer, log);
    },
    async stop(deadline) {
      stopping.abort();
      await closeServer(server, Math.max(0, deadline - performance.now()));
      unwatch();
    },
  };
}

/** The limits of connections. This machine and trusted proxies are exempt from that of an address. */
function connectionLimitsOf(settings: Settings, metrics: Metrics): ConnectionLimits {
  return {
    all: settings.MAX_CONNECTIONS,
    perAddress: settings.MAX_CONNECTIONS_PER_ADDRESS,
    isExempt: (address) => isLoopback(address) || isTrusted(address, settings.TRUSTED_PROXIES),
    onRefused: (limit) => metrics.refusedConnections.inc({ limit }),
  };
}

function tlsFilesOf({ TLS_CERT_FILE, TLS_KEY_FILE }: Settings) {
  if (TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined) return undefined;
  return createTlsFiles(TLS_CERT_FILE, TLS_KEY_FILE);
}
