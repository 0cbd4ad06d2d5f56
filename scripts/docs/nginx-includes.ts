import { readFileSync } from "node:fs";
import { join } from "node:path";

const DEPLOY = join(import.meta.dirname, "../../deploy");

/** Where the files of {@link nginxIncludes} are. */
export const NGINX_INCLUDES_DIR = join(DEPLOY, "nginx");

/**
 * The parts of `nginx-app.conf`, by file name, for a `server` that another program writes, such as Nginx Proxy Manager:
 * what goes into its `location`, into the `server` itself, and beside it.
 */
export function nginxIncludes(): Record<string, string> {
  const text = readFileSync(join(DEPLOY, "nginx-app.conf"), "utf8");
  const [, inServer = "", maps = ""] = /\n {4}ssl_certificate_key .*;\n\n([\s\S]*?)\n\}\n\n([\s\S]*)$/.exec(text) ?? [];
  const [, forLocation = "", locations = ""] =
    /^([\s\S]*?)\n\n {4}location \/ \{[\s\S]*?\n {4}\}\n\n([\s\S]*)$/.exec(inServer) ?? [];
  const [, cookies = ""] = /((?: {4}#.*\n)+ {4}large_client_header_buffers .*;)/.exec(forLocation) ?? [];
  if (maps === "" || locations === "" || cookies === "") throw new Error("nginx-app.conf has not the expected parts");
  return {
    "authserve-location.conf": `# In each location that needs the login, in place of its proxy_set_header lines.
auth_request /_authserve;

${indentedLess(forLocation.replace(`${cookies}\n`, ""))}
`,
    "authserve-server.conf": `# In the server of the app, outside of its locations. Set the address of authserve.
${indentedLess(`${cookies}\n\n${locations}`)}
`,
    "authserve-maps.conf": `# Once, outside of all servers.
${maps}`,
  };
}

const indentedLess = (text: string) => text.replace(/^ {4}/gm, "");
