import * as v from "valibot";
import { defined } from "../../lib/defined.ts";
import { isJson } from "../../lib/header-value.ts";
import { DESCRIBED } from "../../webhook/provider/described-handshakes.ts";
import type { HandshakeSettings } from "../../webhook/provider/handshake.ts";
import type { Provider } from "../../webhook/provider.ts";
import { allProviders, providerOf } from "../../webhook/providers/index.ts";
import { HEADER, key, TEXT, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef, warnOfWeakness } from "./secrets.ts";
import { map } from "./shape.ts";

// A challenge in one of the others would change how the answer is read.
const ECHO_HEADER = /^(?!content-|transfer-|connection$|set-cookie)[A-Za-z0-9!#$%&'*+.^_`|~-]+$/i;

const KINDS = (Object.keys(DESCRIBED) as (keyof typeof DESCRIBED)[]).sort();
const WAYS = Object.entries(DESCRIBED).map(([kind, { is }]) => `\`${kind}\`, ${is}`);

/** The handshake of a source with a token, or one that the source describes. */
const DescribedSchema = map(
  {
    token: key(TEXT, "The token that the provider shows or sends, as `env:NAME` or `file:PATH`."),
    confirm: key(
      v.literal(true),
      "Confirms the subscription that `options` names, by opening the URL that the provider sends.",
    ),
    type: key(
      v.picklist(KINDS, `expected ${KINDS.join(", ")}`),
      `What the sender asks by, if no preset does: ${WAYS.join("; ")}.`,
    ),
    name: key(textLike(HEADER, "expected a name"), "The parameter, the header or the member that has the challenge."),
    as: key(
      textLike(ECHO_HEADER, "expected the name of a header"),
      "The header of the answer, or the member of its JSON. Default: `name`; for `echo-query` and `hub`, an answer in text.",
    ),
  },
  "expected a map",
);

/** The handshake of a source as it is written in the file. */
export const HandshakeSchema = v.union(
  [v.literal(true), DescribedSchema],
  "expected true, { token: env:NAME } or { type: … }",
);

interface HandshakeEntry {
  handshake?: v.InferOutput<typeof HandshakeSchema> | undefined;
  preset?: string | undefined;
  contentTypes?: readonly string[] | undefined;
  options?: Readonly<Record<string, string>> | undefined;
}

/** Reads the handshake of a source. */
export function readHandshake(entry: HandshakeEntry, reading: Reading): HandshakeSettings | null {
  const { handshake, preset: slug } = entry;
  if (handshake === undefined) return null;
  const provider = providerOf(slug);
  const asked = provider?.handshake;
  if (asked?.confirms) return readConfirmation(asked.kind, asked.confirms.option, entry, reading);
  if (handshake !== true && handshake.confirm !== undefined)
    return reading.at("handshake", "confirm").fault("found without a preset that asks for it, expected nothing", "key");
  if (handshake !== true && handshake.type !== undefined) return readDescribed(handshake, provider, reading);
  if (asked === undefined) {
    const found = slug === undefined ? "without a preset" : `beside the preset ${slug}, whose provider has none`;
    return reading.at("handshake").fault(`found ${found}, expected a preset of ${withHandshake().join(", ")}`, "key");
  }
  const { contentTypes = provider?.contentTypes ?? [] } = entry;
  if (asked.signs && !asked.signs.challengeIn && !contentTypes.every(isJson)) {
    return reading.at("contentTypes").fault("found other types than JSON beside handshake, expected JSON types only");
  }
  const { kind } = asked;
  if (!asked.hasToken) {
    if (handshake === true) return { kind };
    return reading
      .at("handshake", "token")
      .fault(`found beside the preset ${slug}, which has none, expected handshake: true`, "key");
  }
  if (handshake === true) {
    return reading.at("handshake").fault(`found true, expected { token: env:NAME } for the token that ${slug} has`);
  }
  const { token } = handshake;
  const extra = OF_DESCRIBED.find((key) => handshake[key] !== undefined);
  if (extra !== undefined) return reading.at("handshake", extra).fault("found without type, expected nothing", "key");
  if (token === undefined) return reading.at("handshake").fault("token is missing, expected env:NAME");
  return withToken({ kind }, token, reading);
}

/** Without the option, anybody could subscribe the source to something of theirs. */
function readConfirmation(
  kind: string,
  option: string,
  { handshake, preset, options }: HandshakeEntry,
  reading: Reading,
): HandshakeSettings | null {
  const isRight = typeof handshake === "object" && handshake.confirm === true && Object.keys(handshake).length === 1;
  if (!isRight)
    return reading
      .at("handshake")
      .fault(`found another value than the preset ${preset} takes, expected { confirm: true }`);
  if (options?.[option] === undefined)
    return reading.at("handshake", "confirm").fault(`found without options.${option}, expected what to confirm`, "key");
  return { kind };
}

const OF_DESCRIBED = ["name", "as"] as const;

function withToken(handshake: HandshakeSettings, reference: string, reading: Reading): HandshakeSettings | null {
  const place = reading.at("handshake", "token");
  const token = readSecretRef(reference, place);
  if (token === null) return null;
  warnOfWeakness(token, place);
  return { ...handshake, token };
}

type Described = v.InferOutput<typeof DescribedSchema>;

function readDescribed(
  described: Described,
  provider: Provider | undefined,
  reading: Reading,
): HandshakeSettings | null {
  const { type: kind = "head", token, name, as } = described;
  if (provider?.handshake !== undefined)
    return reading
      .at("handshake", "type")
      .fault("found beside a preset whose provider has its own, expected none", "key");
  const keys: readonly string[] = DESCRIBED[kind].keys;
  const extra = (["token", ...OF_DESCRIBED] as const).find(
    (key) => described[key] !== undefined && !keys.includes(key),
  );
  if (extra !== undefined)
    return reading.at("handshake", extra).fault(`found beside type ${kind}, expected nothing`, "key");
  if (keys.includes("name") && name === undefined)
    return reading.at("handshake").fault(`name is missing, expected where type ${kind} has the challenge`);
  if (kind === "match-query" && token === undefined)
    return reading
      .at("handshake")
      .fault(`token is missing, expected env:NAME with the code that type ${kind} compares`);
  if (kind === "echo-header" && as === undefined && !ECHO_HEADER.test(name ?? ""))
    return reading.at("handshake", "name").fault("found a header that cannot be echoed, expected another");
  const named = kind === "echo-header" ? name?.toLowerCase() : name;
  const handshake = { kind, ...defined({ name: named, as: as ?? (kind === "echo-header" ? name : undefined) }) };
  return token === undefined ? handshake : withToken(handshake, token, reading);
}

/** The presets that have a handshake. */
const withHandshake = () => allProviders().flatMap(([name, { handshake }]) => (handshake === undefined ? [] : [name]));
