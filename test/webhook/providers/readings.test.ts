import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { FORM, openContent } from "../../../src/webhook/content/content.ts";
import type { Provider } from "../../../src/webhook/provider.ts";
import { allProviders } from "../../../src/webhook/providers/index.ts";
import { type Sample, sampleOf } from "../../../src/webhook/samples/index.ts";
import { isSigned, type SignedScheme } from "../../../src/webhook/signature/schemes.ts";
import { createVerifier } from "../../../src/webhook/signature/signature.ts";
import { identify } from "../../../src/webhook/stages/identity.ts";
import { requirePayload } from "../../../src/webhook/stages/payload.ts";
import { secretOf } from "../../helpers/secret.ts";
import { fitted, KEYS, OPTIONS, SECRET, signSample } from "../../helpers/signed-sample.ts";

const NOW = Date.UTC(2026, 10, 24, 8, 47, 3);

type Delivery = ReturnType<typeof signSample>;

function sourceOf(slug: string, { schemes, id = [], type = [], contentTypes = ["application/json"] }: Provider) {
  const payload = { preset: slug, schemes, contentTypes, isEnvelope: false };
  return { ...payload, secrets: [secretOf(SECRET)], keys: KEYS, options: OPTIONS, id, type, dedupe: "bytes" as const };
}

/** What a delivery is known by, as far as the signature decides that; null if it is refused. */
function identityOf(source: ReturnType<typeof sourceOf>, delivery: Delivery): string | null {
  const { headers, body, mediaType } = delivery;
  const content = openContent(body, mediaType);
  const verifier = createVerifier(source);
  const read = verifier.read(headers, NOW);
  if ("reason" in read) return null;
  const verified = verifier.verify({ ...delivery, content }, read.candidates);
  if (typeof verified === "string") return null;
  try {
    requirePayload(source, content);
  } catch {
    return null;
  }
  const { isSigned: isIdSigned, eventId, bytesSha256 } = identify({ source, verified, headers, content });
  const isOfSignature = isIdSigned || verified.covers.body || verified.digest !== undefined;
  return isOfSignature ? JSON.stringify(isIdSigned ? eventId : bytesSha256) : "not signed";
}

const JOINERS = ["", "\n", "&", "=", ":", ";", "."];
// A time in milliseconds has three digits more than one in seconds.
const CUTS = [1, 3, 10];
const ASSIGNMENTS = ["", "=", "\n", ":"];

/** Fields in which a field has been written into the one before it, or one has been cut in two, as names and values. */
function* regrouped(fields: readonly [string, string][]): Generator<[string, string][]> {
  for (const [at, [name, value]] of fields.entries()) {
    const others = fields.filter((_, place) => place !== at);
    for (const [to] of others.entries()) {
      for (const joiner of JOINERS) {
        for (const assignment of ASSIGNMENTS) {
          const added = `${joiner}${name}${assignment}${value}`;
          yield others.map(([other, text], place) => [other, place === to ? text + added : text]);
        }
      }
    }
    for (let cut = 1; cut < Math.min(value.length, 8); cut++) {
      yield [...others, [name + value.slice(0, cut), value.slice(cut)]];
      yield [...others, [name, value.slice(0, cut)], [value.slice(cut), ""]];
    }
  }
}

/** Members of the first level with text, all of them: what follows the first goes into it. */
function* runTogether(members: Record<string, unknown>): Generator<Record<string, unknown>> {
  const texts = Object.entries(members).filter(([name, value]) => typeof value === "string" && name !== "Signature");
  const sorted = texts.sort(([one], [other]) => (one < other ? -1 : 1)) as [string, string][];
  for (let from = 1; from < sorted.length; from++) {
    for (let to = from + 1; to <= sorted.length; to++) {
      for (const joiner of JOINERS) {
        const moved = sorted.slice(from, to);
        const [[first, value] = ["", ""]] = sorted;
        const longer = value + moved.map(([name, text]) => `${joiner}${name}${joiner}${text}`).join("");
        const left = Object.entries(members).filter(([name]) => !moved.some(([gone]) => gone === name));
        const shorter = { ...Object.fromEntries(left), [first]: longer };
        yield shorter;
        // The type decides what is signed, so that it stays.
        yield { ...shorter, Type: members.Type };
      }
    }
  }
}

/** Other deliveries whose signed text may be the same. The signature stays. */
function* readingsOf(delivery: Delivery): Generator<Delivery> {
  const { headers, body, mediaType, target } = delivery;
  const text = body.toString();
  if (mediaType === FORM) {
    for (const fields of regrouped([...new URLSearchParams(text)]))
      yield { ...delivery, body: Buffer.from(String(new URLSearchParams(fields))) };
  } else if (text.startsWith("{")) {
    for (const members of runTogether(JSON.parse(text)))
      yield { ...delivery, body: Buffer.from(JSON.stringify(members)) };
  }
  // The body begins earlier or later.
  const names = Object.keys(headers);
  for (const cut of CUTS) {
    const [head, tail] = [text.slice(0, cut), text.slice(-cut)];
    yield { ...delivery, target: target + head, body: Buffer.from(text.slice(cut)) };
    for (const name of names) {
      yield { ...delivery, headers: { ...headers, [name]: headers[name] + head }, body: Buffer.from(text.slice(cut)) };
      const shorter = Buffer.from(text.slice(0, -cut));
      yield { ...delivery, headers: { ...headers, [name]: tail + headers[name] }, body: shorter };
      const value = headers[name] ?? "";
      const longer = Buffer.from(value.slice(-cut) + text);
      yield { ...delivery, headers: { ...headers, [name]: value.slice(0, -cut) }, body: longer };
    }
  }
  const times = Object.values(headers).flatMap((value) => value.match(/[0-9]{10,13}/g) ?? []);
  const address = `POST${delivery.origin}${target}`;
  for (const before of [address, ...times.flatMap((time) => [`${time}.`, `${time}:`, `${time},`, `${time}\n`])])
    yield { ...delivery, body: Buffer.from(before + text) };
}

function sampleFor(slug: string, provider: Provider, scheme: SignedScheme): Sample {
  return fitted(scheme, sampleOf(slug, { now: NOW }, provider));
}

suite("one signed text never has two identities", () => {
  for (const [slug, provider] of allProviders()) {
    const schemes = provider.schemes.filter(isSigned);
    if (provider.aliasOf !== undefined || schemes.length === 0) continue;
    test(slug, () => {
      const source = sourceOf(slug, provider);
      for (const scheme of schemes) {
        const delivery = signSample(scheme, sampleFor(slug, provider, scheme), NOW);
        const identity = identityOf(source, delivery);
        assert.notEqual(identity, null);
        for (const reading of readingsOf(delivery)) {
          const other = identityOf(source, reading);
          assert.ok(other === null || other === identity, `${other}: ${reading.target}\n${reading.body}`);
        }
      }
    });
  }
});
