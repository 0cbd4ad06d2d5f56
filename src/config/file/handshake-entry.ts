import { defined } from "../../lib/defined.ts";
import { isJson } from "../../lib/header-value.ts";
import { hasToken, signsChallenges } from "../../webhook/handshakes/kind.ts";
import type { Provider } from "../../webhook/provider.ts";
import { allProviders, providerOf } from "../../webhook/providers/index.ts";
import type { Handshake } from "../../webhook/source.ts";
import type { PathFault } from "./faults.ts";
import type { EntryContext } from "./reading.ts";
import { ECHO_HEADER, type SourceEntry } from "./schema.ts";
import { readSecretRef } from "./secret-refs.ts";

/** The handshake of a source, or why it has none. Paths are below the source. */
export interface ReadHandshake {
  handshake?: Handshake;
  faults: PathFault[];
  warnings: PathFault[];
}

/** Reads the handshake of a source. */
export function readHandshake(entry: SourceEntry, context: EntryContext): ReadHandshake {
  const { handshake, preset: slug } = entry;
  if (handshake === undefined) return { faults: [], warnings: [] };
  const provider = providerOf(slug);
  const kind = provider?.handshake;
  if (kind === "sns") return readConfirmation(handshake, entry);
  if (handshake !== true && handshake.confirm !== undefined)
    return fault(["handshake", "confirm"], "found without the preset aws_sns, expected nothing", "key");
  if (handshake !== true && handshake.type !== undefined) return readDescribed(handshake, provider, context);
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
  const { token } = handshake;
  const extra = OF_DESCRIBED.find((key) => handshake[key] !== undefined);
  if (extra !== undefined) return fault(["handshake", extra], "found without type, expected nothing", "key");
  if (token === undefined) return fault(["handshake"], "token is missing, expected env:NAME");
  return withToken({ kind }, token, context);
}

/** Without the topic, anybody could subscribe the source to a topic of theirs. */
function readConfirmation(handshake: NonNullable<SourceEntry["handshake"]>, { options }: SourceEntry): ReadHandshake {
  const isRight = handshake !== true && handshake.confirm === true && Object.keys(handshake).length === 1;
  if (!isRight)
    return fault(["handshake"], "found another value than the preset aws_sns takes, expected { confirm: true }");
  if (options?.topicArn === undefined)
    return fault(["handshake", "confirm"], "found without options.topicArn, expected the topic to confirm", "key");
  return { handshake: { kind: "sns" }, faults: [], warnings: [] };
}

const OF_DESCRIBED = ["name", "as"] as const;

function withToken(handshake: Handshake, reference: string, context: EntryContext): ReadHandshake {
  const path = ["handshake", "token"];
  const read = readSecretRef(reference, context);
  if ("fault" in read) return fault(path, read.fault);
  const warnings = read.warnings.map((message) => ({ path, message: `${read.secret.name} ${message}` }));
  return { handshake: { ...handshake, token: read.secret }, faults: [], warnings };
}

type Described = Exclude<NonNullable<SourceEntry["handshake"]>, true>;

/** The keys that each described handshake has. */
const KEYS: Record<NonNullable<Described["type"]>, readonly (keyof Described)[]> = {
  "echo-header": ["name", "as"],
  "echo-json": ["name", "as"],
  "echo-query": ["name", "as"],
  head: [],
  hub: ["token", "as"],
  "match-query": ["name", "token"],
};

function readDescribed(described: Described, provider: Provider | undefined, context: EntryContext): ReadHandshake {
  const { type: kind = "head", token, name, as } = described;
  if (provider?.handshake !== undefined)
    return fault(["handshake", "type"], "found beside a preset whose provider has its own, expected none", "key");
  const extra = (["token", ...OF_DESCRIBED] as const).find(
    (key) => described[key] !== undefined && !KEYS[kind].includes(key),
  );
  if (extra !== undefined) return fault(["handshake", extra], `found beside type ${kind}, expected nothing`, "key");
  if (KEYS[kind].includes("name") && name === undefined)
    return fault(["handshake"], `name is missing, expected where type ${kind} has the challenge`);
  if (kind === "match-query" && token === undefined)
    return fault(["handshake"], `token is missing, expected env:NAME with the code that type ${kind} compares`);
  if (kind === "echo-header" && as === undefined && !ECHO_HEADER.test(name ?? ""))
    return fault(["handshake", "name"], "found a header that cannot be echoed, expected another");
  const named = kind === "echo-header" ? name?.toLowerCase() : name;
  const handshake = { kind, ...defined({ name: named, as: as ?? (kind === "echo-header" ? name : undefined) }) };
  return token === undefined ? { handshake, faults: [], warnings: [] } : withToken(handshake, token, context);
}

function fault(path: PathFault["path"], message: string, at?: "key"): ReadHandshake {
  return { faults: [{ path, message, ...(at && { at }) }], warnings: [] };
}

/** The presets that have a handshake. */
const withHandshake = () => allProviders().flatMap(([name, { handshake }]) => (handshake === undefined ? [] : [name]));
