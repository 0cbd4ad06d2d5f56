import { extname } from "node:path";
import * as v from "valibot";
import { AppError, type ErrorCode } from "../../errors.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { type Asset, assetOf, assetReply } from "./assets.ts";
import { type RequireSession, redirect, redirectAway, type ServedAt, securityHeaders } from "./browser.ts";

/** What serves the manual. */
export interface ManualParts extends ServedAt {
  /** Null: it is for everybody. */
  authenticate: RequireSession | null;
  /** Reads a file of the site by its path in it; null if there is none. */
  readFile: (name: string) => Promise<Buffer | null>;
}

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PROBLEMS: ErrorCode[] = [
  "not_found",
  "missing_token",
  "invalid_token",
  "session_invalidated",
  "device_not_proved",
  "store_unavailable",
];

/** The documentation of this version. */
export function manualEndpoints(parts: ManualParts): Endpoint[] {
  // There are as many as the site has files.
  const assets = new Map<string, Asset>();

  async function readAsset(name: string): Promise<Asset> {
    const known = assets.get(name);
    if (known !== undefined) return known;
    const bytes = await parts.readFile(name);
    if (bytes === null) throw new AppError("not_found");
    const asset = assetOf(TYPES[extname(name)] ?? "text/plain; charset=utf-8", bytes);
    assets.set(name, asset);
    return asset;
  }

  return [
    {
      method: "GET",
      path: "/docs",
      summary: "Redirects to `/docs/`.",
      response: v.string(),
      statuses: [302],
      quiet: true,
      handler: ({ request }) => redirect(request, parts, "/docs/"),
    },
    {
      method: "*",
      path: "/docs/**",
      summary:
        "Returns a file of the documentation of this version. Without the live session a page redirects to the login page.",
      isGuarded: parts.authenticate !== null,
      response: v.string(),
      statuses: [200, 302],
      mediaTypes: { 200: ["text/html", "text/css", "text/javascript", "image/svg+xml", "image/png", "text/plain"] },
      problems: [...PROBLEMS, "method_not_allowed"],
      quiet: true,
      async handler({ request }) {
        const { method, url = "" } = request;
        if (method !== "GET" && method !== "HEAD") {
          throw new AppError("method_not_allowed", { headers: { Allow: "GET, HEAD" } });
        }
        const path = url.slice("/docs/".length).split("?")[0] as string;
        const name = path === "" || path.endsWith("/") ? `${path}index.html` : path;
        try {
          await parts.authenticate?.(request);
        } catch (error) {
          if (!name.endsWith(".html")) throw error;
          return redirectAway(error, request, parts, `/docs/${encodeURIComponent(path)}`);
        }
        const reply = assetReply(await readAsset(name), request);
        return { ...reply, headers: { ...reply.headers, ...securityHeaders(POLICY) } };
      },
    },
  ];
}
