import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import type { EventStore } from "../../../src/events/store.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { openContent } from "../../../src/webhook/content/content.ts";
import type { Provider } from "../../../src/webhook/provider.ts";
import { allProviders } from "../../../src/webhook/providers/index.ts";
import { type Sample, sampleOf } from "../../../src/webhook/samples/index.ts";
import { headersOf, type Scheme } from "../../../src/webhook/signature/schemes.ts";
import { createVerifier } from "../../../src/webhook/signature/signature.ts";
import type { Source } from "../../../src/webhook/source.ts";
import { eventOf } from "../../../src/webhook/stages/event.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { secretOf } from "../../helpers/secret.ts";
import { fitted, KEYS, OPTIONS, SECRET, signSample } from "../../helpers/signed-sample.ts";

const NOW = Date.UTC(2026, 10, 24, 8, 47, 3);
/** When a provider repeats a delivery: before the first time that it signed is too old. */
const LATER = NOW + 60_000;

const store: EventStore = localStores(tempDatabase({ after }).database).events;

function sourceOf(slug: string, { schemes, id = [], type = [], dedupe, ...rest }: Provider): Source {
  return {
    name: slug,
    path: "/webhook/sender",
    preset: slug,
    secrets: [secretOf(SECRET)],
    keys: KEYS,
    options: OPTIONS,
    schemes,
    id,
    type,
    dedupe: dedupe?.mode ?? "bytes",
    contentTypes: rest.contentTypes ?? ["application/json"],
    isEnvelope: rest.isEnvelope ?? false,
    addressMode: "enforce",
    bodyLimitBytes: 1_000_000,
  };
}

type Signed = ReturnType<typeof signSample>;

/** Delivers at a time, and returns whether it became an event or a duplicate. */
async function deliver(source: Source, signed: Signed, at: number): Promise<"event" | "duplicate" | "repeat"> {
  const { headers, body, mediaType } = signed;
  const content = openContent(body, mediaType);
  const verifier = createVerifier(source);
  const read = verifier.read(headers, at);
  assert.ok("candidates" in read, JSON.stringify(read));
  const verified = verifier.verify({ ...signed, content }, read.candidates);
  assert.ok(typeof verified === "object", verified as string);
  const delivery = { verified, headers, payload: content, address: "192.0.2.1", receivedAt: at };
  const [appended] = await store.append([eventOf(source, delivery)]);
  assert.ok(appended && !appended.error);
  if (appended.repeat) return "repeat";
  return appended.duplicate ? "duplicate" : "event";
}

/**
 * The repeat of a delivery: signed again, with the time of the repeat, but for tokens, which have an id of their own.
 */
function repeatOf(scheme: Scheme, signed: Signed): Signed {
  if (scheme.type === "jwt" || scheme.type === "jws") return signed;
  const { mediaType: contentType, body } = signed;
  const unsigned = Object.entries(signed.headers).filter(([name]) => !headersOf(scheme).includes(name));
  return signSample(scheme, { contentType, headers: Object.fromEntries(unsigned), body: body.toString() }, LATER);
}

/** The same bytes under another id, if the id is in headers; else null. */
function underAnotherId(sample: Sample, { id = [] }: Provider): Sample | null {
  const names = id.flat().flatMap((place) => (place.startsWith("header:") ? [place.slice("header:".length)] : []));
  const sent = names.filter((name) => sample.headers[name] !== undefined);
  if (sent.length === 0) return null;
  const others = Object.fromEntries(sent.map((name) => [name, `${sample.headers[name]}-2`]));
  return { ...sample, headers: { ...sample.headers, ...others } };
}

for (const [slug, provider] of allProviders()) {
  const { schemes, dedupe, facts = {} } = provider;
  const mode = dedupe?.mode ?? "bytes";
  const source = sourceOf(slug, provider);
  const [scheme] = schemes as [Scheme];
  suite(`of deliveries of ${slug}`, () => {
    const type = "only" in scheme && scheme.only && "values" in scheme.only ? scheme.only.values[0] : undefined;
    const sampleAt = (now: number) => fitted(scheme, sampleOf(slug, { now, type }));
    const sample = sampleAt(NOW);
    const first = signSample(scheme, sample, NOW);

    test("the first is an event", async () => {
      assert.equal(await deliver(source, first, NOW), "event");
    });

    test(`its repeat is ${mode === "off" ? "an event too" : "a duplicate"}`, async () => {
      assert.equal(await deliver(source, repeatOf(scheme, first), LATER), mode === "off" ? "event" : "duplicate");
    });

    const same = underAnotherId(sample, provider);
    if (same) {
      const isEvent = mode !== "bytes" || signsId(scheme, provider);
      test(`another event with the same bytes is ${isEvent ? "an event" : "kept beside the event"}`, async () => {
        assert.equal(await deliver(source, signSample(scheme, same, LATER), LATER), isEvent ? "event" : "repeat");
      });
    }

    test("another event is an event", async () => {
      assert.equal(await deliver(source, signSample(scheme, sampleAt(LATER), LATER), LATER), "event");
    });

    if (facts.sameBytes?.is) {
      test("none is lost, though two events can have the same bytes", () => {
        assert.ok(mode !== "bytes" || signsId(scheme, provider), `${slug} needs another mode than bytes`);
      });
    }
  });
}

/** Whether a signature covers the id: in a header, or in its token. */
function signsId(scheme: Scheme, { id = [] }: Provider): boolean {
  if (scheme.type === "jwt") return id.flat().some((place) => place.startsWith("claim:"));
  return "signed" in scheme && /\{header:[^}]*id\}/.test(scheme.signed);
}
