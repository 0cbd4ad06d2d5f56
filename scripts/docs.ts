// Generates the pages of docs/reference from the code, and deploy/nginx from deploy/nginx-app.conf.
//
//   npm run docs

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NGINX_INCLUDES_DIR, nginxIncludes } from "./docs/nginx-includes.ts";
import { PAGES, REFERENCE_DIR } from "./docs/pages.ts";

mkdirSync(REFERENCE_DIR, { recursive: true });
for (const [name, render] of Object.entries(PAGES)) writeFileSync(join(REFERENCE_DIR, name), await render());

mkdirSync(NGINX_INCLUDES_DIR, { recursive: true });
for (const [name, text] of Object.entries(nginxIncludes())) writeFileSync(join(NGINX_INCLUDES_DIR, name), text);
