import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Cleanup } from "./temp-dir.ts";

/** A small web site on a free port of 127.0.0.1. Its address with `localhost` is another site for a browser. */
interface Site {
  url: string;
  /** Sets the HTML of every page. */
  show(html: string): void;
}

/** Starts a web site that ends with the test. */
export async function startSite(context: Cleanup): Promise<Site> {
  let page = "<!doctype html><title>site</title>";
  const server = createServer((_request, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8").end(page);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    show(html) {
      page = html;
    },
  };
}
