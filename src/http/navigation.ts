import type { IncomingMessage } from "node:http";

/** Whether a browser opens a page with this request, so that it can show a login page instead of the response. */
export function isNavigation({ headers }: IncomingMessage): boolean {
  const { accept = "", "sec-fetch-mode": mode } = headers;
  if (headers["x-requested-with"]?.toString().toLowerCase() === "xmlhttprequest") return false;
  return accept.toLowerCase().includes("text/html") && (mode === undefined || mode === "navigate");
}
