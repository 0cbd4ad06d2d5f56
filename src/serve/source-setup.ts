import { copyFileSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readEnvironment } from "../config/env-file.ts";
import { draftSource, isSourceName, linesOf, type NeededValue } from "../config/file/new-source.ts";
import { appendToMap } from "../config/file/yaml-document.ts";
import { sourcesOf } from "../config/sources.ts";
import { AppError, describeError, fieldError, systemCode } from "../errors.ts";
import { makeDir, replaceFile } from "../lib/files.ts";
import { isObject, parseStrictJson } from "../lib/json.ts";
import { sendRequest } from "../lib/send-request.ts";
import type { SetupParts } from "../operations/setup.ts";
import type { Provider } from "../webhook/provider.ts";
import { describeProvider } from "../webhook/provider-description.ts";
import { allProviders, providerOf } from "../webhook/providers/index.ts";
import { sampleAddresses, senderOf, signedSample } from "../webhook/samples/signed-sample.ts";
import type { Source } from "../webhook/source.ts";
import type { Wiring } from "./configuration.ts";

type Setup = SetupParts["setup"];
type NewSource = Parameters<Setup["add"]>[0];

/** Where the server is reached, without a final `/`. */
export interface ServerAddresses {
  /** On this machine. */
  local: string;
  /** By senders. */
  public: string;
}

// Longer than the server's own timeout for a stalled disk.
const TIMEOUT_MS = 15_000;

/** What the admin page needs to set sources up. */
export function openSourceSetup(wiring: Wiring, addresses: ServerAddresses): Setup {
  const { settings, config, stores, log } = wiring;

  function sourceNamed(name: string): Source {
    const found = sourcesOf(settings, config.current).find((source) => source.name === name);
    if (!found) throw fieldError("source", "is not configured");
    return found;
  }

  function draft(source: NewSource) {
    const provider = providerOf(source.preset);
    if (!provider) throw fieldError("preset", "is not known");
    if (!isSourceName(source.name)) throw fieldError("name", "must be 1 to 64 small letters, digits and -");
    // The file may already name what somebody has just added to `.env`.
    const context = { file: wiring.file, environment: readEnvironment(), values: source.values };
    return { provider, ...draftSource(source, provider, context) };
  }

  const urlOf = (path: string) => addresses.public + path;
  const pathOf = ({ name, path }: NewSource) => path ?? `/webhook/${name}`;

  return {
    presets: () => allProviders().map(([name, provider]) => itemOf(name, provider)),
    preset(name) {
      const provider = providerOf(name);
      if (!provider) return null;
      const { covers, note, handshake, facts } = describeProvider(name, provider);
      const options = Object.fromEntries(
        Object.entries(provider.options ?? {}).map(([option, { is }]) => [option, is]),
      );
      return { ...itemOf(name, provider), covers, note, handshake, options, facts };
    },
    async secret(name) {
      const source = sourceNamed(name);
      const [newest] = source.secrets;
      if (!newest) throw fieldError("source", "has no secret");
      const record = (await stores.sources.list()).find((known) => known.source === name);
      if ((record?.received ?? 0) > 0)
        throw fieldError("source", "has received deliveries: its secret is not shown any more");
      log.info({ event: "secret_shown", source: name, secret: newest.name }, "the admin page showed a secret");
      return { name: newest.name, value: newest.value };
    },
    async sendSample(name) {
      const source = sourceNamed(name);
      const sender = senderOf(source);
      if (!sender) throw fieldError("source", "has public keys only: a sample can be signed with a secret alone");
      const { url, sentTo } = sampleAddresses(sender, addresses.local + source.path, source.publicOrigin);
      try {
        const sample = signedSample(sender, sentTo);
        const { status, text } = await sendRequest({ url, isLocal: true, timeoutMs: TIMEOUT_MS, ...sample });
        return { status, answer: text, eventId: eventIdIn(text) };
      } catch (error) {
        throw fieldError("source", `cannot be sent to: ${describeError(error)}`);
      }
    },
    draft(source) {
      const { lines, needs, text, faults } = draft(source);
      return {
        lines,
        needs,
        url: urlOf(pathOf(source)),
        file: wiring.file,
        faults,
        writable: settings.CONFIG_WRITE === "on" && text !== null,
      };
    },
    add(source) {
      if (settings.CONFIG_WRITE !== "on") throw fieldError("", "needs CONFIG_WRITE=on");
      const { provider: _, needs, text, faults } = draft(source);
      const [fault] = faults;
      if (fault !== undefined) throw fieldError("", fault);
      const missing = needs.find(({ is }) => !source.values[is]);
      if (missing) throw fieldError(`values.${missing.is}`, "is missing");
      if (text === null) throw fieldError("", `${wiring.file} has its sources in braces: add the lines by hand`);
      const backup = write(source, needs);
      log.info({ event: "config_written", file: wiring.file, backup, source: source.name }, `added ${source.name}`);
      return { file: wiring.file, backup, url: urlOf(pathOf(source)) };
    },
  };

  /** Writes the secrets, and adds the source to the file. Returns the name of the file before. */
  function write(source: NewSource, needs: readonly NeededValue[]): string | null {
    const { file } = wiring;
    const lines = linesOf(source, needs, ({ variable }) => `file:${SECRETS}/${variable}`);
    try {
      const folder = join(dirname(file), SECRETS);
      if (needs.length > 0) makeDir(folder);
      for (const { is, variable } of needs)
        replaceFile(join(folder, variable), source.values[is] ?? "", { mode: 0o600, flush: true });
      return replaceConfigFile(file, lines, stores.now());
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw fieldError("", `${file} cannot be written (${systemCode(error)})`);
    }
  }
}

/** Adds lines to the sources of a file, and keeps the file before. Returns the name of that; null if there was none. */
function replaceConfigFile(file: string, lines: readonly string[], now: number): string | null {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  // A link, such as that of a ConfigMap, would be replaced by a file.
  if (stats && !stats.isFile()) throw fieldError("", `${file} is a link: change what it leads to`);
  const after = appendToMap(stats ? readFileSync(file, "utf8") : "", "sources", lines);
  if (after === null) throw fieldError("", `${file} has changed meanwhile: try again`);
  if (!stats) {
    replaceFile(file, after, { mode: 0o600, flush: true });
    return null;
  }
  const backup = `${file}.${new Date(now).toISOString().replaceAll(":", "-")}.bak`;
  copyFileSync(file, backup);
  replaceFile(file, after, { mode: stats.mode & 0o777, flush: true });
  return backup;
}

/** The folder of secrets, beside the configuration file. */
const SECRETS = "secrets";

const itemOf = (name: string, provider: Provider) => {
  const { title, docs, needs } = describeProvider(name, provider);
  return { name, title, docs, needs };
};

function eventIdIn(answer: string): string | null {
  const parsed = parseStrictJson(Buffer.from(answer));
  const id = parsed.ok && isObject(parsed.value) ? parsed.value.eventId : null;
  return typeof id === "string" ? id : null;
}
