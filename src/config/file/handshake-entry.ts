import { isJson } from "../../lib/media-type.ts";
import { hasToken, signsChallenges } from "../../webhook/handshakes/kind.ts";
import { allProviders, providerOf } from "../../webhook/providers/index.ts";
import type { Source } from "../../webhook/source.ts";
import type { PathFault } from "./faults.ts";
import type { EntryContext } from "./reading.ts";
import type { SourceEntry } from "./schema.ts";
import { readSecretRef } from "./secret-refs.ts";

/** The handshake of a source, or why it has none. Paths are below the source. */
export interface ReadHandshake {
  handshake?: NonNullable<Source["handshake"]>;
  faults: PathFault[];
  warnings: PathFault[];
}

/** Reads the handshake of a source. */
export function readHandshake(entry: SourceEntry, context: EntryContext): ReadHandshake {
  const { handshake, preset: slug } = entry;
  if (handshake === undefined) return { faults: [], warnings: [] };
  const provider = providerOf(slug);
  const kind = provider?.handshake;
  if (kind === undefined) {
    const found = slug === undefined ? "without a preset" : `beside the preset ${slug}, whose provider has none`;
    return fault(["handshake"], `found ${found}, expected a preset of ${withHandshake().join(", ")}`, "key");
  }
  const { contentTypes = provider?.contentTypes ?? [] } = entry;
  if (signsChallenges(kind) && !contentTypes.every(isJson)) {
    return fault(["contentTypes"], "found other types than JSON beside handshake, expected JSON types only");
  }
  if (!hasToken(kind)) {
    if (handshake === true) return { handshake: { kind }, faults: [], warnings: [] };
    return fault(
      ["handshake", "token"],
      `found beside the preset ${slug}, which has none, expected handshake: true`,
      "key",
    );
  }
  if (handshake === true) {
    return fault(["handshake"], `found true, expected { token: env:NAME } for the token that ${slug} has`);
  }
  const path = ["handshake", "token"];
  const read = readSecretRef(handshake.token, context);
  if ("fault" in read) return fault(path, read.fault);
  const warnings = read.warnings.map((message) => ({ path, message: `${read.secret.name} ${message}` }));
  return { handshake: { kind, token: read.secret }, faults: [], warnings };
}

function fault(path: PathFault["path"], message: string, at?: "key"): ReadHandshake {
  return { faults: [{ path, message, ...(at && { at }) }], warnings: [] };
}

/** The presets that have a handshake. */
const withHandshake = () => allProviders().flatMap(([name, { handshake }]) => (handshake === undefined ? [] : [name]));
