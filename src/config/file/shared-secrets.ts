import { DEFAULT_SOURCE_NAME } from "../../webhook/default-source.ts";
import { signsForAnybody } from "../../webhook/handshakes/kind.ts";
import type { Source } from "../../webhook/source.ts";
import type { PathFault } from "./faults.ts";

type Owner = Pick<Source, "name" | "handshake">;

/**
 * What is wrong about secrets of several sources. A handshake that signs what anybody sends would sign for the other source. Else
 * who has the secret of one source can sign for the other, which is a warning. `ofDefault` are those of the source `default`.
 */
export function sharedSecrets(
  sources: readonly Source[],
  ofDefault: readonly string[],
): Record<"faults" | "warnings", PathFault[]> {
  const found: Record<"faults" | "warnings", PathFault[]> = { faults: [], warnings: [] };
  const owners = new Map<string, Owner>(ofDefault.map((value) => [value, { name: DEFAULT_SOURCE_NAME }]));
  for (const source of sources) {
    const base = ["sources", source.name];
    for (const [index, { name, value }] of source.secrets.entries()) {
      const other = owners.get(value);
      const path = [...base, "secrets", index];
      const signer = other && signerOf(source, other);
      if (other === undefined) owners.set(value, source);
      else if (signer === undefined)
        found.warnings.push({
          path,
          message: `${name} is also a secret of ${other.name}: use another one for each source`,
        });
      else
        found.faults.push({
          path,
          message: `found a secret of ${other.name}, expected another one: the handshake of ${signer.name} signs what anybody sends`,
        });
    }
  }
  for (const { name, handshake } of sources) {
    if (handshake?.kind !== "braintree" || handshake.token === undefined || !owners.has(handshake.token.value))
      continue;
    const message = "found a secret, expected the public key of Braintree: anybody can ask for it";
    found.faults.push({ path: ["sources", name, "handshake", "token"], message });
  }
  return found;
}

/** The one of two sources whose handshake could sign for the other. One with the same handshake refuses what it signs. */
function signerOf(one: Owner, other: Owner): Owner | undefined {
  if (one.handshake?.kind === other.handshake?.kind) return undefined;
  return [one, other].find(({ handshake }) => handshake && signsForAnybody(handshake.kind));
}
