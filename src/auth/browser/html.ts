import { hash } from "node:crypto";
import { ICON, MARK } from "../../http/icon.ts";
import type { Reply } from "../../http/problem.ts";

/** A piece of HTML. Everything else that is put into a page is escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | Html | null | readonly Html[];

/** Builds HTML from a template. Values are escaped, unless they are HTML themselves; null is nothing. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.map((part, index) => part + shown(values[index] ?? null)).join(""));
}

function shown(value: Value): string {
  if (value === null) return "";
  if (value instanceof Html) return value.text;
  return typeof value === "string" ? escaped(value) : value.map(({ text }) => text).join("");
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);

// The colors keep a contrast of 4.5:1 for text and of 3:1 for the borders of fields, in light and dark.
const STYLE = `
:root{color-scheme:light dark;--bg:#f3f5f8;--card:#fff;--text:#15191e;--soft:#545d68;--line:#dfe3e8;--edge:#7d8793;--accent:#1b5bc0;--hover:#164a9e;--on:#fff;--bad:#a3210f;--badbg:#fdeeeb;--note:#0d456b;--notebg:#e8f2fb}
@media(prefers-color-scheme:dark){:root{--bg:#101418;--card:#191e24;--text:#e9ecf0;--soft:#a7b0bb;--line:#303841;--edge:#76818d;--accent:#8ab8ff;--hover:#aecdff;--on:#0c1420;--bad:#ffb3a6;--badbg:#3d1f1b;--note:#b0d8f5;--notebg:#16303f}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:1.5rem;background:var(--bg);color:var(--text);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:25rem;min-width:0;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:1rem;box-shadow:0 2px 6px #0000000d;overflow-wrap:anywhere}
h1{margin:0;font-size:1.5rem;line-height:1.25;letter-spacing:-.01em}
p{margin:.35rem 0 0;color:var(--soft);text-wrap:pretty}
strong{font-weight:600;color:var(--text)}
a{color:var(--accent)}
form{margin:1.5rem 0 0}
label{display:block;margin:0 0 .35rem;font-weight:600}
input{display:block;width:100%;min-height:3rem;margin:0 0 1.1rem;padding:.6rem .8rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--edge);border-radius:.5rem}
.check{display:flex;align-items:center;gap:.6rem;min-height:2.75rem;margin:0;font-weight:400}
.check input{flex:none;width:1.15rem;min-height:1.15rem;margin:0}
input[aria-invalid]{border-color:var(--bad)}
button,.button{display:block;width:100%;min-height:3rem;margin:1.5rem 0 0;padding:.6rem 1rem;font:inherit;font-weight:600;color:var(--on);background:var(--accent);border:1px solid transparent;border-radius:.5rem;cursor:pointer}
.button{text-align:center;text-decoration:none}
button:hover,.button:hover{background:var(--hover)}
.quiet,.quiet:hover{color:var(--text);background:var(--card);border-color:var(--edge)}
.quiet:hover{background:var(--bg)}
input:focus-visible{border-color:var(--accent);outline:2px solid var(--accent);outline-offset:0}
button:focus-visible,.button:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.brand{display:flex;align-items:center;gap:.5rem;margin:0 0 1.5rem;font-weight:600}
.brand svg{flex:none;width:1.5rem;height:1.5rem}
.note{margin:1.25rem 0 0;padding:.75rem .9rem;border-left:4px solid;border-radius:.4rem;font-size:.9375rem;color:var(--note);background:var(--notebg)}
.note p,.note strong{color:inherit}
.note a{color:inherit}
.error{color:var(--bad);background:var(--badbg)}
h2{margin:1.75rem 0 0;font-size:1.125rem}
ul{margin:.75rem 0 0;padding:0;list-style:none}
li{padding:.6rem 0;border-top:1px solid var(--line);font-size:.9375rem}
li form{margin:.5rem 0 0}
.small{min-height:2.25rem;margin:0;padding:.2rem .8rem}
code{font:1rem/1.6 ui-monospace,monospace}
.qr{margin:1rem 0 0;padding:.5rem;background:#fff;border-radius:.5rem}
.qr svg{display:block;width:100%;height:auto}
.hint{margin:1rem 0 0;font-size:.875rem}
dl{margin:1.25rem 0 0;border-bottom:1px solid var(--line)}
dl div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;padding:.6rem 0;border-top:1px solid var(--line)}
dt{color:var(--soft)}
dd{margin:0;font-weight:500}
@media(max-width:30rem){body{padding:2rem 1.25rem;place-items:start center;background:var(--card)}main{padding:0;border:0;box-shadow:none}}
`.trim();

const STYLE_HASH = hash("sha256", STYLE, "base64");

/** What a page is made of. */
interface Page {
  lang: string;
  title: string;
  body: Html;
  /** Another origin that its form may lead to. Browsers also check the redirect that answers the form. */
  formTarget?: string | null;
  /** The origins whose pages may frame it; none by default. */
  frameAncestors?: readonly string[];
  /** A script at the end of the page. The page also works without it. */
  script?: string;
  /** Whether its script sends requests. */
  connects?: boolean;
}

/** A page as a response. Nothing but its own style and forms is allowed, and no other page may frame it. */
export function pageReply(
  status: number,
  { lang, title, body, formTarget, script, connects = false, frameAncestors = [] }: Page,
  headers: Reply["headers"] = {},
): Reply {
  const page = html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · authserve</title>
<link rel="icon" href="${ICON}">
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<div class="brand">${new Html(MARK)}authserve</div>
${body}
</main>${script === undefined ? null : html`\n<script>${new Html(script)}</script>`}
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    ...(script === undefined ? [] : [`script-src 'sha256-${hash("sha256", script, "base64")}'`]),
    ...(connects ? ["connect-src 'self'"] : []),
    "img-src 'self' data:",
    `form-action 'self'${formTarget ? ` ${formTarget}` : ""}`,
    "base-uri 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(" ")}`,
  ];
  return {
    status,
    body: page.text,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy.join("; "),
      "Referrer-Policy": "same-origin",
      ...(frameAncestors.length === 0 ? { "X-Frame-Options": "DENY" } : {}),
      Vary: "Accept-Language, Cookie, Sec-Fetch-Dest",
      ...headers,
    },
  };
}

/** A redirect of a browser that must not be cached. */
export function redirect(location: string, headers: Reply["headers"] = {}): Reply {
  return { status: 303, body: "", headers: { "Content-Type": "text/plain", Location: location, ...headers } };
}
