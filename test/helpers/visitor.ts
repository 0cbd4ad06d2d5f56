import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { text as readText } from "node:stream/consumers";

/** What a browser sends when it opens a page. */
export const PAGE = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "sec-fetch-mode": "navigate" };

export interface Visit {
  /** Of the last request. */
  url: string;
  status: number;
  headers: IncomingMessage["headers"];
  text: string;
}

interface VisitOptions {
  method?: string;
  /** Replaces the headers of a page. */
  headers?: Record<string, string>;
  /** Further header lines, which may repeat a name: name and value in turn. */
  lines?: readonly string[];
  body?: string | Buffer;
  /** Sends the body without saying its length first. */
  isChunked?: boolean;
}

interface Cookie {
  value: string;
  domain: string;
  expiresAt: number;
}

const REDIRECTS = [301, 302, 303];
const MAX_REDIRECTS = 10;

/** A client of a proxy on 127.0.0.1 that keeps cookies as browsers do. It takes every host for that of the proxy. */
export class Visitor {
  readonly cookies = new Map<string, Cookie>();
  readonly port: number;

  constructor(port: number) {
    this.port = port;
  }

  /** Sends a request and reads the response. */
  async request(url: string, options: VisitOptions = {}): Promise<Visit> {
    const outgoing = this.#outgoing(url, options);
    if (options.isChunked) outgoing.write(options.body);
    outgoing.end(options.isChunked ? undefined : options.body);
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    const text = await readText(response);
    this.#keep(new URL(url).hostname, response.headers["set-cookie"] ?? []);
    return { url, status: response.statusCode ?? 0, headers: response.headers, text };
  }

  /** Sends a request, or the first part of an upload without its end. Reads the first part of the answer. */
  async firstPart(url: string, upload?: string): Promise<string> {
    const headers = { accept: "*/*" };
    const outgoing = this.#outgoing(url, { headers, ...(upload && { method: "POST", isChunked: true }) });
    if (upload === undefined) outgoing.end();
    else outgoing.write(upload);
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    const [part] = await once(response, "data");
    outgoing.on("error", () => {}).destroy();
    return String(part);
  }

  /** Sends a request and follows redirects, as a browser does that opens a page. */
  async open(url: string, options: VisitOptions = {}): Promise<Visit> {
    let visit = await this.request(url, options);
    for (let n = 0; REDIRECTS.includes(visit.status); n++) {
      if (n === MAX_REDIRECTS) throw new Error(`more than ${MAX_REDIRECTS} redirects from ${url}`);
      visit = await this.request(new URL(String(visit.headers.location), visit.url).href);
    }
    return visit;
  }

  /**
   * Sends the handshake of a websocket, or of what other headers `Upgrade` name. Resolves with its status, and with the
   * connection if it is open.
   */
  async upgrade(
    url: string,
    protocols: readonly string[] = ["websocket"],
  ): Promise<{ status: number; socket: Duplex | null }> {
    const upgrade = protocols.flatMap((protocol) => ["Upgrade", protocol]);
    const lines = ["Connection", "Upgrade", ...upgrade, "Sec-WebSocket-Version", "13"];
    const key = ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="];
    const outgoing = this.#outgoing(url, { headers: { origin: new URL(url).origin }, lines: [...lines, ...key] });
    outgoing.end();
    return new Promise((resolve, reject) => {
      outgoing.on("error", reject);
      outgoing.on("upgrade", ({ statusCode = 0 }, socket) => resolve({ status: statusCode, socket }));
      outgoing.on("response", (response) => resolve({ status: response.resume().statusCode ?? 0, socket: null }));
    });
  }

  #outgoing(url: string, { method = "GET", headers = PAGE, lines = [], body, isChunked }: VisitOptions) {
    const { host, hostname, pathname, search } = new URL(url);
    const length = body === undefined || isChunked ? [] : ["Content-Length", String(Buffer.byteLength(body))];
    const coding = isChunked ? ["Transfer-Encoding", "chunked"] : [];
    const cookie = this.#cookieHeader(hostname);
    return httpsRequest({
      host: "127.0.0.1",
      port: this.port,
      servername: hostname,
      rejectUnauthorized: false,
      agent: false,
      method,
      path: pathname + search,
      headers: [
        ...["Host", host],
        ...Object.entries(headers).flat(),
        ...(cookie === "" ? [] : ["Cookie", cookie]),
        ...length,
        ...coding,
        ...lines,
      ],
    });
  }

  #cookieHeader(host: string): string {
    const sent = [...this.cookies].filter(
      ([, { domain, expiresAt }]) => Date.now() < expiresAt && (host === domain || host.endsWith(`.${domain}`)),
    );
    return sent.map(([name, { value }]) => `${name}=${value}`).join("; ");
  }

  #keep(host: string, setCookies: readonly string[]): void {
    for (const line of setCookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const maxAge = Number(/; Max-Age=([0-9]+)/i.exec(line)?.[1] ?? Infinity);
      const domain = /; Domain=([^;]+)/i.exec(line)?.[1] ?? host;
      this.cookies.set(name, { value, domain, expiresAt: Date.now() + maxAge * 1000 });
    }
  }
}
