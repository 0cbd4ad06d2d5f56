import { hash } from "node:crypto";
import * as v from "valibot";
import { AppError, type ErrorCode } from "../../errors.ts";
import type { Endpoint, RequestContext } from "../../http/endpoint.ts";
import { ICON } from "../../http/icon.ts";
import type { Reply } from "../../http/problem.ts";
import { type ClientAccess, requireAllowedClient } from "../../http/proxies.ts";
import { type Asset, assetOf, assetReply } from "./assets.ts";
import { type RequireSession, redirect, redirectAway, type ServedAt, securityHeaders } from "./browser.ts";

/** What serves the page to browsers. */
export interface PageParts extends ServedAt {
  authenticate: RequireSession;
  /** The script of each language, and the style. They are read at the first request. */
  readFiles: () => Promise<{ scripts: Record<string, Buffer>; style: Buffer }>;
  /** The language for an `Accept-Language`. */
  languageFor: (acceptLanguage: string | undefined) => string;
  /** Null: from any address. */
  access: ClientAccess | null;
}

type NamedAsset = Asset & { name: string };

interface Assets {
  /** By language. */
  scripts: Map<string, NamedAsset>;
  style: NamedAsset;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const PROBLEMS: ErrorCode[] = ["not_found", "store_unavailable"];

/** The page itself, for browsers. */
export function adminPageEndpoints(parts: PageParts): Endpoint[] {
  let assets: Promise<Assets> | undefined;
  const readAssets = () => {
    assets ??= loadAssets(parts).catch((error: unknown) => {
      assets = undefined;
      throw error;
    });
    return assets;
  };

  function requireClient({ request, address }: RequestContext): void {
    if (parts.access !== null) requireAllowedClient(request, address, parts.access);
  }

  return [
    {
      method: "GET",
      path: "/admin/",
      summary:
        "Shows the page to an owner. Without the live session it redirects to the login page, and others to `/account`.",
      response: v.string(),
      statuses: [200, 302],
      mediaTypes: { 200: "text/html" },
      problems: PROBLEMS,
      async handler(context) {
        requireClient(context);
        const { request } = context;
        try {
          await parts.authenticate(request);
        } catch (error) {
          return redirectAway(error, request, parts, "/admin/");
        }
        return pageReply(await readAssets(), parts.languageFor(request.headers["accept-language"]));
      },
    },
    {
      method: "GET",
      path: "/admin",
      summary: "Redirects to `/admin/`.",
      response: v.string(),
      statuses: [302],
      problems: ["not_found"],
      quiet: true,
      handler(context) {
        requireClient(context);
        return redirect(context.request, parts, "/admin/");
      },
    },
    {
      method: "GET",
      path: "/admin/assets/:name",
      summary: "Returns a script or the style of the page.",
      response: v.string(),
      mediaTypes: { 200: ["text/javascript", "text/css"] },
      problems: ["not_found"],
      quiet: true,
      async handler(context) {
        requireClient(context);
        const { scripts, style } = await readAssets();
        const asset = [...scripts.values(), style].find(({ name }) => name === context.params.name);
        if (!asset) throw new AppError("not_found");
        return assetReply(asset, context.request);
      },
    },
  ];
}

async function loadAssets({ readFiles }: PageParts): Promise<Assets> {
  const { scripts, style } = await readFiles();
  return {
    scripts: new Map(
      Object.entries(scripts).map(([language, script]) => [language, namedAsset("js", "text/javascript", script)]),
    ),
    style: namedAsset("css", "text/css", style),
  };
}

function namedAsset(extension: string, type: string, bytes: Buffer): NamedAsset {
  return {
    name: `app-${hash("sha256", bytes).slice(0, 12)}.${extension}`,
    ...assetOf(`${type}; charset=utf-8`, bytes),
  };
}

function pageReply({ scripts, style }: Assets, lang: string): Reply {
  const script = scripts.get(lang);
  if (!script) throw new Error(`there is no page in ${lang}`);
  // Addresses are relative: a proxy may have removed a part of the path.
  const body = `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>authserve</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="assets/${style.name}">
<script type="module" src="assets/${script.name}"></script>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. The same is in the commands: authserve --help</noscript>
</body>
</html>
`;
  return {
    status: 200,
    body,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      ...securityHeaders(POLICY),
      Vary: "Accept-Language, Cookie",
    },
  };
}
