/** The settings that forward every event to an app on this machine, signed. */
export const forwardSettings = (secret: string) => `FORWARD_URL=http://127.0.0.1:8080/events
FORWARD_SECRET='${secret}'`;

/** An app that takes events and verifies them. It needs Node alone. */
export const APP_CODE = `import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { FORWARD_SECRET, PORT = 8080 } = process.env;

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end();
  console.log(request.headers["x-event-type"], body.toString());
  response.writeHead(204).end();
}).listen(PORT, "127.0.0.1");

function isGenuine({ "webhook-id": id, "webhook-timestamp": time, "webhook-signature": found = "" }, body) {
  if (!(Math.abs(Date.now() / 1000 - time) < 300)) return false;
  const hmac = createHmac("sha256", FORWARD_SECRET).update(id + "." + time + ".").update(body);
  const right = Buffer.from('v1,' + hmac.digest("base64"));
  return found.split(" ").map((text) => Buffer.from(text))
    .some((text) => text.length === right.length && timingSafeEqual(text, right));
}
`;

const SECRET_BYTES = 32;

/** A new secret. As hex it has the form of every scheme. */
export const newSecret = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
