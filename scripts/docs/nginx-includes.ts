import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where the files of {@link nginxIncludes} are. */
export const DEPLOY = join(import.meta.dirname, "../../deploy");

/** Each line begins a part of `nginx-app.conf`. */
const PARTS = {
  server: "    # Apps of the domain may set many cookies.",
  streams: "    # An upload goes to the app as it arrives.",
  location: "    # The app decides how large an upload may be.",
  proxy: "    # What the app learns of the request and its client.",
  app: "    location / {",
  question: "    location = /_authserve {",
  maps: "# The port that the client asked for.",
} as const;

/**
 * The parts of `nginx-app.conf`, by their path in `deploy`, for a `server` that another program writes, such as Nginx
 * Proxy Manager and SWAG. SWAG has a `proxy.conf` of its own.
 */
export function nginxIncludes(): Record<string, string> {
  const { server, streams, location, proxy, maps, ...parts } = partsOf(
    readFileSync(join(DEPLOY, "nginx-app.conf"), "utf8"),
  );
  // The last part of the server has its end.
  const question = parts.question.replace(/\n\}\n$/, "\n");
  const inServer = "# In the server of the app, outside of its locations.";
  return {
    "nginx/authserve-location.conf": `# In each location that needs the login.
auth_request /_authserve;

${location}`,
    "nginx/authserve-proxy.conf": `# In each location that needs the login, in place of its own proxy_set_header lines.
${proxy}`,
    "nginx/authserve-server.conf": `${inServer} Set the address of authserve.
${server}
${streams}
${question}`,
    "nginx/authserve-maps.conf": `# Once, outside of all servers.
# Until a location includes authserve-location.conf.
map "" $credential {
    default "";
}

${maps}`,
    "swag/authserve-server.conf": `${inServer} The container of authserve is named authserve.
${server}
# Websockets, and no other protocol: after an upgrade nginx no longer sees the requests.
if ($http_upgrade !~* "^(websocket)?$") {
    return 400;
}

${question.replace(
  "proxy_pass http://127.0.0.1:3000/",
  "include /config/nginx/resolver.conf;\n    set $upstream_authserve authserve;\n    proxy_pass http://$upstream_authserve:3000/",
)}`,
  };
}

/** Their text, without the indentation of the server. */
function partsOf(text: string): Record<keyof typeof PARTS, string> {
  const starts = Object.entries(PARTS).map(([name, line]) => ({ name, start: text.indexOf(`\n${line}`) + 1 }));
  if (starts.some(({ start }, at) => start <= (starts[at - 1]?.start ?? 0)))
    throw new Error("nginx-app.conf has not the expected parts");
  const parts = starts.map(({ name, start }, at) => {
    const part = `${text.slice(start, starts[at + 1]?.start).trimEnd()}\n`;
    return [name, name === "maps" ? part : part.replace(/^ {4}/gm, "")];
  });
  return Object.fromEntries(parts);
}
