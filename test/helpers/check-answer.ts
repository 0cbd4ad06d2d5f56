import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { json } from "node:stream/consumers";
import { type Description, differenceOf, type Exchange } from "./description.ts";

/** The descriptions of the servers that the test has started, by port. */
const descriptions = new Map<string, Description>();

/** Reads the description of a server. From then on, the answers from its port are checked. */
export async function readDescription(url: string): Promise<void> {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  // A connection of its own: tests count those that the server keeps open.
  const sent = request(`${url}/openapi.json`, { agent: false, rejectUnauthorized: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  descriptions.set(new URL(url).port, (await json(response)) as Description);
}

/**
 * Throws if an answer differs from the server's description. Answers of other servers, such as proxies, are not
 * checked.
 */
export async function checkAnswer(url: string, exchange: Exchange): Promise<void> {
  const { port } = new URL(url);
  const difference = () => {
    const description = descriptions.get(port);
    return description ? differenceOf(description, exchange) : null;
  };
  if (difference() === null) return;
  // The server may have reloaded its configuration, or have ended since.
  await readDescription(url).catch(() => {});
  assert.equal(difference(), null);
}
