import * as v from "valibot";
import { AppError } from "../errors.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { type AdminGuard, changeEndpoint, queryEndpoint, readEndpoint } from "./endpoint.ts";
import { count, cursor, text } from "./fields.ts";

/** What sets sources up. Methods throw `validation_failed` if they cannot do what is asked. */
export interface SetupParts extends AdminGuard {
  setup: {
    presets(): v.InferOutput<typeof PresetItem>[];
    /** Null if there is no preset of this name. */
    preset(name: string): v.InferOutput<typeof PresetAnswer> | null;
    secret(source: string): Promise<v.InferOutput<typeof SecretAnswer>>;
    sendSample(source: string): Promise<v.InferOutput<typeof SentAnswer>>;
    draft(source: NewSource): v.InferOutput<typeof DraftAnswer>;
    add(source: NewSource): v.InferOutput<typeof AddedAnswer>;
  };
}

type NewSource = v.InferOutput<typeof NewSourceBody>;

const PresetItem = v.object({
  name: v.string(),
  title: v.string(),
  docs: v.string(),
  needs: v.array(v.string()),
});
export const PresetsAnswer = v.object({ items: v.array(PresetItem), cursor });

const fact = v.nullable(v.object({ is: v.unknown(), source: v.string() }));
export const PresetAnswer = v.object({
  ...PresetItem.entries,
  covers: v.picklist(["body", "part", "none"]),
  note: v.nullable(v.string()),
  handshake: v.nullable(v.string()),
  options: v.record(v.string(), v.string()),
  facts: v.record(v.string(), fact),
});

const SourceBody = v.object({ source: text });
export const SecretAnswer = v.object({ name: v.string(), value: v.string() });
export const SentAnswer = v.object({
  status: count,
  answer: v.string(),
  eventId: v.pipe(v.nullable(v.string()), v.description("Null unless it was stored.")),
});

const NewSourceBody = v.object({
  name: text,
  preset: text,
  path: v.optional(text),
  expectEvery: v.optional(text),
  values: v.optional(
    v.pipe(
      v.record(v.string(), v.pipe(v.string(), v.maxLength(16_384, "is too long"))),
      v.description("The values of `needs` that are known, such as `secret`. They are checked, and not answered."),
    ),
    {},
  ),
});

export const DraftAnswer = v.object({
  lines: v.array(v.string()),
  needs: v.array(v.object({ is: v.string(), variable: v.string() })),
  url: v.pipe(v.string(), v.description("What to enter at the provider.")),
  file: v.string(),
  faults: v.array(v.string()),
  writable: v.pipe(v.boolean(), v.description("Whether `CONFIG_WRITE` is on.")),
});
export const AddedAnswer = v.object({ file: v.string(), backup: v.nullable(v.string()), url: v.string() });

const PresetQuery = v.object({ name: text });

/** What sets sources up: the known providers, samples, and new sources. */
export function setupEndpoints(parts: SetupParts): Endpoint[] {
  const { setup } = parts;
  return [
    readEndpoint(parts, {
      path: "/admin/api/presets",
      scope: "events:read",
      summary: "Lists the known providers, with what a source of each needs.",
      response: PresetsAnswer,
      read: async () => ({ items: setup.presets(), cursor: null }),
    }),
    queryEndpoint(parts, {
      path: "/admin/api/presets/one",
      scope: "events:read",
      summary: "Shows what is known of the provider that `?name=` names. What nobody has published is null.",
      query: PresetQuery,
      response: PresetAnswer,
      async read({ name }) {
        const found = setup.preset(name);
        if (found === null) throw new AppError("not_found");
        return found;
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/sources/secret",
      scope: "session",
      summary:
        "Shows the newest secret of a source, to enter it at the sender, as long as the source has received nothing.",
      request: SourceBody,
      response: SecretAnswer,
      audited: { action: "source.secret", asked: ({ source }) => ({ source }), outcome: () => ({}) },
      change: ({ source }) => setup.secret(source),
    }),
    changeEndpoint(parts, {
      path: "/admin/api/sources/send",
      scope: "session",
      summary: "Signs a sample as the sender of a source does, and delivers it to this server.",
      request: SourceBody,
      response: SentAnswer,
      audited: null,
      change: ({ source }) => setup.sendSample(source),
    }),
    changeEndpoint(parts, {
      path: "/admin/api/sources/draft",
      scope: "session",
      summary: "Makes the lines of the configuration file for a source of a preset, and checks the file with them.",
      request: NewSourceBody,
      limitBytes: 64 * 1024,
      response: DraftAnswer,
      audited: null,
      change: async (source) => setup.draft(source),
    }),
    changeEndpoint(parts, {
      path: "/admin/api/sources/add",
      scope: "session",
      summary:
        "Adds a source of a preset to the configuration file, if `CONFIG_WRITE` is on. The server then reloads it.",
      request: NewSourceBody,
      limitBytes: 64 * 1024,
      response: AddedAnswer,
      audited: {
        action: "source.add",
        asked: ({ name, preset }) => ({ source: name, preset }),
        outcome: () => ({}),
      },
      change: async (source) => setup.add(source),
    }),
  ];
}
