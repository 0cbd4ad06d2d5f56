// Generates the pages of docs/reference from the code, and parts of deploy/nginx-app.conf.
//
//   npm run docs

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEPLOY, nginxIncludes } from "./docs/nginx-includes.ts";
import { PAGES, REFERENCE_DIR } from "./docs/pages.ts";

mkdirSync(REFERENCE_DIR, { recursive: true });
for (const [name, render] of Object.entries(PAGES)) writeFileSync(join(REFERENCE_DIR, name), await render());

for (const [name, text] of Object.entries(nginxIncludes())) writeFileSync(join(DEPLOY, name), text);
