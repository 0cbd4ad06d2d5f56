import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sidIn } from "./app.ts";
import type { TargetUrls } from "./configuration.ts";
import { eventOf } from "./event.ts";
import { createOrderWatch } from "./order.ts";
import type { Ledger } from "./verdict.ts";

// A target that takes its time has requests under way when the server is killed, and sees requests that overlap.
const MAX_ANSWER_MS = 3;

/** The HTTP server in this process that both routes post to, and that is the app. */
interface Target {
  /** What a server process posts to. The URLs name the process, counted from 1. */
  urls(server: number): TargetUrls;
  close(): Promise<void>;
}

/** Starts the target on a free port. It adds what it gets to the ledger. */
export async function startTarget(ledger: Ledger): Promise<Target> {
  const order = createOrderWatch();

  function free(id: string, response: ServerResponse): void {
    ledger.delivered.free.add(id);
    response.writeHead(204).end();
  }

  function ordered(id: string, server: number, response: ServerResponse): void {
    const event = eventOf(id);
    if (event === null) return void response.writeHead(404).end();
    const fault = order.begin(event, server);
    if (fault !== null) ledger.outOfOrder.push(fault);
    const timer = setTimeout(() => {
      order.end(event, server, true);
      ledger.delivered.ordered.add(id);
      response.writeHead(204).end();
    }, Math.random() * MAX_ANSWER_MS);
    response.on("close", () => {
      clearTimeout(timer);
      order.end(event, server, false);
    });
  }

  function logout(body: string, response: ServerResponse): void {
    const { begun, ended, told, toldEarly } = ledger.sessions;
    const sid = sidIn(new URLSearchParams(body).get("logout_token") ?? "");
    if (begun.has(sid) && !ended.has(sid)) toldEarly.push(sid);
    const timer = setTimeout(() => {
      told.add(sid);
      response.writeHead(204).end();
    }, Math.random() * MAX_ANSWER_MS);
    response.on("close", () => clearTimeout(timer));
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const [, route, server] = request.url?.split("/") ?? [];
    const id = String(request.headers["x-event-id"]);
    let body = "";
    request.on("error", () => {});
    request.setEncoding("utf8").on("data", (text: string) => {
      if (route === "logout") body += text;
    });
    request.on("end", () => {
      if (route === "free") free(id, response);
      else if (route === "logout") logout(body, response);
      else ordered(id, Number(server), response);
    });
  }

  const listener = createServer(onRequest);
  // A connection that this side closes might make the server send a request again.
  listener.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => listener.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  return {
    urls(server) {
      const urlOf = (name: string) => `http://127.0.0.1:${port}/${name}/${server}`;
      return { route: urlOf, logout: urlOf("logout") };
    },
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        listener.closeAllConnections();
      }),
  };
}
