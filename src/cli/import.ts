import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfigText } from "../config/file/config-file.ts";
import { ConfigFileError } from "../config/file/errors.ts";
import { yamlText } from "../config/file/yaml-document.ts";
import { OperatorError, systemCode } from "../errors.ts";
import { makeDir } from "../lib/files.ts";
import { importAdnanhWebhook } from "./import/adnanh-webhook.ts";
import { createDraft, type Draft, envLine, MAX_BYTES, note } from "./import/draft.ts";
import { importOauth2Proxy } from "./import/oauth2-proxy.ts";
import { importTinyauth } from "./import/tinyauth.ts";
import { importTraefikForwardAuth } from "./import/traefik-forward-auth.ts";
import { printData, say } from "./output.ts";

const IMPORTERS: Record<string, (text: string, draft: Draft, file: string) => void> = {
  tinyauth: importTinyauth,
  "traefik-forward-auth": importTraefikForwardAuth,
  "oauth2-proxy": importOauth2Proxy,
  "adnanh-webhook": importAdnanhWebhook,
};

const TO_BE_SET = "to be set: ";
const CONFIG_NAME = "authserve.yaml";

/** Makes `authserve.yaml` and `.env` of the configuration of another product, and says what is not carried over. */
export async function runImport(product: string, file: string, { out }: { out?: string }): Promise<void> {
  const draft = createDraft();
  const importer = Object.hasOwn(IMPORTERS, product) ? IMPORTERS[product] : undefined;
  if (importer === undefined)
    throw new OperatorError({ found: "The product is not known", remedy: `name ${Object.keys(IMPORTERS).join(", ")}` });
  importer(readText(file), draft, file);
  const env = envText(draft);
  const config = configText(draft);
  const isEmpty = config === "" && [...draft.env.values()].every(({ value }) => value === null);
  if (!isEmpty && out === undefined)
    printData(`# ---- ${CONFIG_NAME} ----\n${config}\n# ---- .env ----\n${env}`.trimEnd());
  else if (!isEmpty && out !== undefined)
    writeFiles(out, { ...(config !== "" && { [CONFIG_NAME]: config }), ".env": env });
  for (const [instead, whats] of draft.notes)
    if (!isEmpty || !instead.startsWith(TO_BE_SET)) say(`${[...new Set(whats)].join("; ")}: ${instead}`);
  if (isEmpty)
    throw new OperatorError(
      { found: `${file} has nothing for authserve`, remedy: `give the file with the options of ${product}` },
      1,
    );
}

function readText(file: string): string {
  try {
    if (statSync(file).size > MAX_BYTES)
      throw new OperatorError({ found: `${file} has more than 1 MiB`, remedy: "give a part of it" });
    return readFileSync(file, "utf8")
      .replace(/^\uFEFF/, "")
      .replaceAll("\r\n", "\n");
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError({ found: `${file} cannot be read (${systemCode(error)})`, remedy: "name a readable file" });
  }
}

/** The lines of `.env`. Notes those that the user has to complete. */
function envText(draft: Draft): string {
  const lines = [...draft.env].map(([name, { value, how }]) => {
    const line = value === null || value === "" ? null : envLine(name, value);
    if (line !== null) return line;
    note(draft, name, value === null ? `${TO_BE_SET}${how}` : "has a value that .env cannot hold: put it into a file");
    return `# ${name}=   # ${how}`;
  });
  return `${lines.join("\n")}\n`;
}

/** The configuration file. Notes its faults, but for the secrets that the user has to make. */
function configText(draft: Draft): string {
  const { sources, routes, access, env } = draft;
  const parts = {
    ...(Object.keys(sources).length > 0 && { sources }),
    ...(routes.length > 0 && { routes }),
    ...(access.length > 0 && { access }),
  };
  if (Object.keys(parts).length === 0) return "";
  const text = yamlText(parts);
  const values = [...env].map(([name, { value }]) => [name, value ?? `${name} that is to be made`]);
  try {
    const { warnings } = readConfigText(text, CONFIG_NAME, Object.fromEntries(values));
    for (const warning of warnings) note(draft, warning, "a warning of authserve config check");
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    for (const line of error.lines) note(draft, line, "correct this by hand");
  }
  return text;
}

/** Writes the files if none of them exists. */
function writeFiles(folder: string, files: Record<string, string>): void {
  const taken = Object.keys(files).find((name) => existsSync(join(folder, name)));
  if (taken !== undefined)
    throw new OperatorError({ found: `${join(folder, taken)} exists`, remedy: "name another folder with --out" }, 1);
  try {
    makeDir(folder);
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, name), text, { mode: 0o600, flag: "wx", flush: true });
  } catch (error) {
    throw new OperatorError(
      { found: `${folder} cannot be written (${systemCode(error)})`, remedy: "name another folder with --out" },
      1,
    );
  }
  say(
    `Wrote ${Object.keys(files)
      .map((name) => join(folder, name))
      .join(" and ")}.`,
  );
}
