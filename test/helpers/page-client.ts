import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { checkAnswer } from "./check-answer.ts";
import type { Server } from "./server.ts";

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "sec-fetch-mode": "navigate" };
const FORM = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };

/** A page as a browser without script sees it. */
interface Page {
  status: number;
  text: string;
  location: string | null;
  headers: IncomingMessage["headers"];
}

/** A browser without script that keeps cookies, and follows no redirect. */
export class PageClient {
  readonly cookies = new Map<string, string>();
  readonly server: Pick<Server, "url">;

  readonly #headers: Record<string, string>;

  /** `headers` are sent with each request. */
  constructor(server: Pick<Server, "url">, headers: Record<string, string> = {}) {
    this.server = server;
    this.#headers = headers;
  }

  open(path: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.#ask("GET", path, { ...HTML, ...headers });
  }

  send(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Page> {
    const body = new URLSearchParams(fields).toString();
    return this.#ask("POST", path, { ...HTML, ...FORM, ...headers }, body);
  }

  async #ask(method: string, path: string, headers: Record<string, string>, body = ""): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const request = httpRequest(this.server.url + path, {
      method,
      headers: { ...this.#headers, ...headers, ...(cookie === "" ? {} : { cookie }) },
    });
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const text = await readText(response);
    const status = response.statusCode ?? 0;
    const contentType = response.headers["content-type"] ?? "";
    await checkAnswer(this.server.url, { method, target: path, status, contentType, text });
    for (const line of response.headers["set-cookie"] ?? []) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/; Max-Age=0;/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status, text, location: response.headers.location ?? null, headers: response.headers };
  }
}
