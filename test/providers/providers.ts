import { join } from "node:path";
import { checked } from "./checked.ts";
import { commerce } from "./commerce.ts";
import { type Provider, prove, type Vector } from "./delivery.ts";
import { inBody } from "./in-body.ts";
import { jwt } from "./jwt.ts";
import { prescriptions } from "./prescribed.ts";
import { publicKey } from "./public-key.ts";
import { signed } from "./signed.ts";
import { standard } from "./standard.ts";
import { tokens } from "./tokens.ts";

export const FIXTURE = join(import.meta.dirname, "../fixtures/provider-vectors.json");

const FIXED_TIME = Date.UTC(2026, 8, 1, 12, 0, 0);

/** All providers whose package signs or checks, sorted by preset. */
export const providers: readonly Provider[] = [
  ...standard,
  ...prescriptions,
  ...signed,
  ...checked,
  ...commerce,
  ...publicKey,
  ...jwt,
  ...inBody,
  ...tokens,
].sort((a, b) => (a.preset < b.preset ? -1 : a.preset > b.preset ? 1 : 0));

/** What the fixture holds: each provider's delivery, at a time that is always the same. */
export async function fixedVectors(): Promise<Vector[]> {
  const vectors: Vector[] = [];
  for (const provider of providers) vectors.push((await prove(provider, FIXED_TIME)).genuine);
  return vectors;
}

/** The preset, and which of its schemes if it has several. */
export const titleOf = ({ preset, variant }: Provider) => (variant === undefined ? preset : `${preset} (${variant})`);
