import * as v from "valibot";
import { AppError, describeError, fieldError } from "../errors.ts";
import { isObject, parseStrictJson } from "../lib/json.ts";
import { sendRequest } from "../lib/send-request.ts";
import type { Provider } from "../webhook/provider.ts";
import { describeProvider } from "../webhook/provider-description.ts";
import { allProviders, providerOf } from "../webhook/providers/index.ts";
import { sampleAddresses, senderOf, signedSample } from "../webhook/samples/signed-sample.ts";
import type { Source } from "../webhook/source.ts";
import { count, cursor, text } from "./fields.ts";
import { change, type OperationContext, reading, type ServerContext } from "./operation.ts";

// What sets sources up: the known providers, samples, and new sources.

const PresetItem = v.object({
  name: v.string(),
  title: v.string(),
  docs: v.string(),
  needs: v.array(v.string()),
});
const PresetsAnswer = v.object({ items: v.array(PresetItem), cursor });

const fact = v.nullable(v.object({ is: v.unknown(), source: v.string() }));
const PresetAnswer = v.object({
  ...PresetItem.entries,
  covers: v.picklist(["body", "part", "none"]),
  note: v.nullable(v.string()),
  handshake: v.nullable(v.string()),
  options: v.record(v.string(), v.string()),
  facts: v.record(v.string(), fact),
});

const SourceBody = v.object({ source: text });
const SecretAnswer = v.object({ name: v.string(), value: v.string() });
const SentAnswer = v.object({
  status: count,
  answer: v.string(),
  eventId: v.pipe(v.nullable(v.string()), v.description("Null unless it was stored.")),
});

const NewSourceBody = v.object({
  name: text,
  preset: text,
  path: v.optional(text),
  expectEvery: v.optional(text),
});

const DraftAnswer = v.object({
  lines: v.array(v.string()),
  needs: v.array(v.object({ is: v.string(), variable: v.string() })),
  url: v.pipe(v.string(), v.description("What to enter at the provider.")),
  file: v.string(),
  faults: v.array(v.string()),
});

const itemOf = (name: string, provider: Provider) => {
  const { title, docs, needs } = describeProvider(name, provider);
  return { name, title, docs, needs };
};

async function sourceNamed({ sources }: OperationContext, name: string): Promise<Source> {
  const found = (await sources()).find((source) => source.name === name);
  if (!found) throw fieldError("source", "is not configured");
  return found;
}

export const presets = reading({
  path: "presets",
  scope: "events:read",
  summary: "Lists the known providers, with what a source of each needs.",
  input: v.object({}),
  output: PresetsAnswer,
  run: async () => ({ items: allProviders().map(([name, provider]) => itemOf(name, provider)), cursor: null }),
});

export const preset = reading({
  path: "presets/one",
  scope: "events:read",
  summary: "Shows what is known of the provider that `?name=` names. What nobody has published is null.",
  input: v.object({ name: text }),
  output: PresetAnswer,
  async run(_, { name }) {
    const provider = providerOf(name);
    if (!provider) throw new AppError("not_found");
    const { covers, note, handshake, facts } = describeProvider(name, provider);
    const options = Object.fromEntries(Object.entries(provider.options ?? {}).map(([option, { is }]) => [option, is]));
    return { ...itemOf(name, provider), covers, note, handshake, options, facts };
  },
});

export const secret = change({
  path: "sources/secret",
  scope: "session",
  summary:
    "Shows the newest secret of a source, to enter it at the sender, as long as the source has received nothing.",
  input: SourceBody,
  output: SecretAnswer,
  audited: { action: "source.secret", asked: ({ source }) => ({ source }), outcome: () => ({}) },
  async run(context, { source: name }) {
    const [newest] = (await sourceNamed(context, name)).secrets;
    if (!newest) throw fieldError("source", "has no secret");
    const record = (await context.stores.sources.list()).find(({ source }) => source === name);
    if ((record?.received ?? 0) > 0)
      throw fieldError("source", "has received deliveries: its secret is not shown any more");
    context.log.info({ event: "secret_shown", source: name, secret: newest.name }, "the admin page showed a secret");
    return { name: newest.name, value: newest.value };
  },
});

// Longer than the server's own timeout for a stalled disk.
const TIMEOUT_MS = 15_000;

export const sendSample = change({
  path: "sources/send",
  scope: "session",
  summary: "Signs a sample as the sender of a source does, and delivers it to this server.",
  input: SourceBody,
  output: SentAnswer,
  audited: null,
  async run(context: ServerContext, { source: name }) {
    const source = await sourceNamed(context, name);
    const sender = senderOf(source);
    if (!sender) throw fieldError("source", "has public keys only: a sample can be signed with a secret alone");
    const { url, sentTo } = sampleAddresses(sender, context.addresses.local + source.path, source.publicOrigin);
    try {
      const sample = signedSample(sender, sentTo);
      const { status, text: answer } = await sendRequest({ url, isLocal: true, timeoutMs: TIMEOUT_MS, ...sample });
      return { status, answer, eventId: eventIdIn(answer) };
    } catch (error) {
      throw fieldError("source", `cannot be sent to: ${describeError(error)}`);
    }
  },
});

function eventIdIn(answer: string): string | null {
  const parsed = parseStrictJson(Buffer.from(answer));
  const id = parsed.ok && isObject(parsed.value) ? parsed.value.eventId : null;
  return typeof id === "string" ? id : null;
}

export const draft = change({
  path: "sources/draft",
  scope: "session",
  summary: "Makes the lines of the configuration file for a source of a preset, and checks the file with them.",
  input: NewSourceBody,
  limitBytes: 64 * 1024,
  output: DraftAnswer,
  audited: null,
  run: async (context: ServerContext, source) => context.draftSource(source),
});
