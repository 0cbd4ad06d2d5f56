import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { readSecretFile } from "../config/secrets.ts";
import { readSettings } from "../config/settings.ts";
import { readSources } from "../config/sources.ts";
import { describeError, OperatorError, systemCode } from "../errors.ts";
import { isLoopback } from "../http/listen.ts";
import { printable } from "../lib/printable.ts";
import { sendRequest } from "../lib/send-request.ts";
import { DEFAULT_SOURCE_NAME } from "../webhook/default-source.ts";
import type { Provider } from "../webhook/provider.ts";
import { providerOf } from "../webhook/providers/index.ts";
import { sampleFit } from "../webhook/samples/index.ts";
import { neededOptions, needsToSign, type Signer } from "../webhook/samples/signed-again.ts";
import {
  type SampleSender,
  sampleAddresses,
  schemeFor,
  senderOf,
  signedSample,
  templateName,
} from "../webhook/samples/signed-sample.ts";
import type { Scheme } from "../webhook/signature/schemes.ts";
import type { Source } from "../webhook/source.ts";
import { findSource } from "./find-source.ts";
import { perSecond, wholeNumber } from "./option-values.ts";
import { printData, printJson, say } from "./output.ts";
import { noAnswer, probeServer } from "./running-server.ts";
import { remedyForPreset } from "./sources-presets.ts";

// Longer than the server's own timeout for a stalled disk.
const TIMEOUT_MS = 15_000;

const MAX_IN_FLIGHT = 16;

interface SendOptions {
  source?: string;
  preset?: string;
  secretFile?: string;
  type?: string;
  id?: string;
  body?: string;
  to?: string;
  count?: string;
  rate?: string;
  json?: boolean;
}

/** Sends signed deliveries, as the provider does, to the server on this DATA_DIR or to a URL. */
export async function runSend(options: SendOptions): Promise<void> {
  const count = wholeNumber("--count", options.count ?? "1", 1_000_000);
  const rate = options.rate === undefined ? null : perSecond("--rate", options.rate);
  const environment = readEnvironment();
  const sender = options.preset === undefined ? ofSource(options, readSources(environment)) : ofPreset(options);
  const { body: bodyFile } = options;
  const body = bodyFile === undefined ? null : readGiven("--body", () => readFileSync(bodyFile));
  if (options.type !== undefined && body === null) checkType(sender, options.type);
  const { DATA_DIR: dataDir } = readSettings(environment, ["DATA_DIR"]);
  const url = options.to ?? (await probeServer(dataDir, TIMEOUT_MS)).url + sender.path;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new OperatorError({
      found: "--to is not an http or https URL",
      remedy: `give one such as http://127.0.0.1:3000${sender.path}`,
    });
  }

  const { sentTo, url: withSecret } = sampleAddresses(
    sender,
    url,
    options.to === undefined ? sender.publicOrigin : undefined,
  );
  const isLocal = options.to === undefined || isLoopback(new URL(url).hostname);
  const statuses: Record<string, number> = {};
  let last = { status: 0, text: "" };
  const startedAt = performance.now();
  await repeat(count, rate, async () => {
    const request = deliveryOf(sender, options, body, sentTo);
    last = await sendRequest({ url: withSecret, isLocal, timeoutMs: TIMEOUT_MS, ...request }).catch(
      (error: unknown) => {
        throw noAnswer(url, error);
      },
    );
    statuses[last.status] = (statuses[last.status] ?? 0) + 1;
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const accepted = Object.entries(statuses).reduce(
    (sum, [status, number]) => sum + (/^2/.test(status) ? number : 0),
    0,
  );
  if (options.json) {
    printJson({ url, status: last.status, answer: last.text, sent: count, accepted, statuses });
  } else if (count === 1) {
    printData(printable(last.text));
    if (accepted === 0) say(`${url} answered ${last.status}`);
    if (last.status === 404 && options.to === undefined)
      say("The server does not use this source yet: see authserve doctor, or start the server again.");
  } else {
    const answers = Object.entries(statuses).map(([status, number]) => `${number} × ${status}`);
    printData(`${count} sent in ${seconds.toFixed(1)} s, answered ${answers.join(", ")}`);
  }
  if (accepted < count) process.exitCode = 1;
}

/** Says that a sample is of another type. Throws {@link OperatorError} if it would not look like one of this type. */
function checkType(sender: SampleSender, type: string): void {
  const { fit, usual } = sampleFit(templateName(sender), type);
  const found = `There is no sample of ${JSON.stringify(type)} for ${sender.preset ?? sender.name}`;
  if (fit === "none") throw new OperatorError({ found, remedy: `give its body with --body, or send ${usual}` });
  if (fit === "usual") say(printable(`${found}: this is one of ${usual}, with that type`));
}

/** Runs a task several times, at most {@link MAX_IN_FLIGHT} at once. The first error ends the rest. */
async function repeat(count: number, perSecond: number | null, task: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  let begun = 0;
  const work = async () => {
    while (begun < count) {
      const turn = begun++;
      const waitMs = perSecond === null ? 0 : startedAt + (turn * 1000) / perSecond - performance.now();
      if (waitMs > 0) await delay(waitMs);
      await task();
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, MAX_IN_FLIGHT) }, work));
}

function deliveryOf(sender: SampleSender, { id, type }: SendOptions, body: Buffer | null, sentTo: string) {
  try {
    return signedSample(sender, sentTo, { id, type, body });
  } catch (error) {
    const remedy = "check the secret and the body";
    throw new OperatorError({ found: `The delivery cannot be signed: ${describeError(error)}`, remedy }, 1);
  }
}

/** Signs as the sender of a source, with its newest secret, or with a private key that belongs to one of its keys. */
function ofSource({ source: name, secretFile }: SendOptions, sources: readonly Source[]): SampleSender {
  const only = sources.length === 1 ? sources[0] : undefined;
  const source = name === undefined && only ? only : findSource(sources, name ?? DEFAULT_SOURCE_NAME);
  const [newest] = source.secrets;
  if (!newest && !source.keys) {
    throw new OperatorError({ found: `${source.name} has no secret yet`, remedy: "add one to it" });
  }
  const signing = senderOf(source);
  if (signing) return signing;
  if (secretFile === undefined) {
    throw new OperatorError({
      found: `${source.name} has the sender's public keys only`,
      remedy: "add a key of your own to it, and give the private one with --secret-file",
    });
  }
  return { ...source, scheme: schemeFor(source, "keys"), secret: secretIn(secretFile) };
}

function ofPreset({ preset: slug = "", source, secretFile }: SendOptions): SampleSender {
  const { provider, scheme } = presetToSign(slug, "set it in a source, and give --source NAME");
  if (source !== undefined) {
    throw new OperatorError({ found: "--source and --preset are given together", remedy: "keep one of them" });
  }
  if (secretFile === undefined) {
    throw new OperatorError({ found: "--preset needs a secret", remedy: "give --secret-file FILE, or --source NAME" });
  }
  const { id = [], type = [], contentTypes = ["application/json"] } = provider;
  const secret = secretIn(secretFile);
  return { name: slug, path: `/webhook/${slug}`, preset: slug, scheme, id, type, contentTypes, secret };
}

/** Signs stored events as the provider of a preset. Throws {@link OperatorError} if a secret is not enough for that. */
export function signerOfPreset(slug: string, secret: string): Signer {
  const remedy = "take the headers that an app gets, without --sign-with";
  presetToSign(slug, remedy);
  const needed = needsToSign(slug);
  if (needed.length > 0) throw new OperatorError({ found: `The preset ${slug} needs ${needed.join(", ")}`, remedy });
  return { preset: slug, secret };
}

/** The provider of a preset that needs nothing but a secret to sign. `remedy` is for one that needs more. */
function presetToSign(slug: string, remedy: string): { provider: Provider; scheme: Scheme } {
  const provider = providerOf(slug);
  if (!provider) {
    throw new OperatorError({ found: `There is no preset ${JSON.stringify(slug)}`, remedy: remedyForPreset(slug) });
  }
  const [scheme] = provider.schemes;
  const needed = neededOptions(provider);
  if (needed.length > 0 || scheme === undefined) {
    throw new OperatorError({ found: `The preset ${slug} needs ${needed.join(", ")}`, remedy });
  }
  return { provider, scheme };
}

const secretIn = (file: string) => readGiven("--secret-file", () => readSecretFile(file));

/** Reads the file of an option. Throws {@link OperatorError}. */
function readGiven<T>(option: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new OperatorError({
      found: `${option} cannot be read (${systemCode(error)})`,
      remedy: "name a readable file",
    });
  }
}
