import { readEnvironment } from "../config/env-file.ts";
import { readSettings } from "../config/settings.ts";
import { readSources } from "../config/sources.ts";
import { AppError, OperatorError } from "../errors.ts";
import { originIn } from "../http/sent-url.ts";
import { decodeRequest, explainDelivery, type SentTo } from "../webhook/explain.ts";
import { parseRawRequest, type RawRequest } from "../webhook/raw-request.ts";
import type { Source } from "../webhook/source.ts";
import { findSource } from "./find-source.ts";
import { printJson, say } from "./output.ts";
import { readStdinBytes } from "./prompt.ts";
import { printTable } from "./table.ts";
import { parseTime } from "./time.ts";

interface ExplainOptions {
  at?: string;
  url?: string;
  json?: boolean;
}

/** Explains a captured delivery on standard input. Nothing is stored. The exit code is 1 if the delivery is not genuine. */
export async function runSourcesExplain(name: string, { at, url, json }: ExplainOptions): Promise<void> {
  const source = findSource(readSources(readEnvironment()), name);
  const now = at === undefined ? Date.now() : parseTime("--at", at, Date.now());
  const raw = parseRawRequest(await readStdinBytes());
  if (typeof raw === "string") {
    throw new OperatorError({
      found: `Standard input is no HTTP request: ${raw}`,
      remedy: "pass one as it was captured",
    });
  }
  const decoded = await decodeRequest(source, raw).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    throw new OperatorError({
      found: `The body cannot be decoded: ${error.code}`,
      remedy: "pass the bytes as they were sent",
    });
  });
  const explanation = explainDelivery(source, decoded, sentTo(raw, url, originOf(source, raw)), now);
  if (json) printJson(explanation);
  else {
    printTable(
      ["CHECK", "PASSED", "DETAIL"],
      explanation.checks.map(({ name, ok, detail }) => [name, ok ? "yes" : "NO", detail]),
    );
    const { genuine, reason, eventId, type } = explanation;
    if (eventId !== null) say(`The event would be ${eventId} of type ${type}.`);
    say(genuine ? "The delivery is genuine." : `The delivery is not genuine: ${reason}.`);
  }
  if (!explanation.genuine) process.exitCode = 1;
}

/** Scheme and host as the server sees them, if the request came by the proxy that the settings name. */
function originOf({ publicOrigin }: Source, { headers }: RawRequest): string {
  const { TRUSTED_PROXIES, TLS_CERT_FILE } = readSettings(readEnvironment(), ["TRUSTED_PROXIES", "TLS_CERT_FILE"]);
  return originIn(
    { host: "localhost", ...headers },
    { isForwarded: TRUSTED_PROXIES !== undefined, isEncrypted: TLS_CERT_FILE !== undefined, publicOrigin },
  );
}

/** The address that the sender wrote: the option, else that of the request. */
function sentTo({ target }: RawRequest, url: string | undefined, usualOrigin: string): SentTo {
  const address = url ?? (/^https?:/i.test(target) ? target : undefined);
  if (address === undefined) return { origin: usualOrigin, target };
  // Not from a URL object, which would change some characters.
  const [, origin, rest = ""] = /^(https?:\/\/[^/?#]+)([^#]*)/i.exec(address) ?? [];
  if (origin === undefined) {
    throw new OperatorError({
      found: "--url is not an http or https URL",
      remedy: "give one such as https://example.com/hook",
    });
  }
  return { origin, target: rest.startsWith("/") ? rest : `/${rest}` };
}
