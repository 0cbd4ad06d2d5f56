import { configJsonSchema } from "../../src/config/file/json-schema.ts";
import { code, codeBlock, page, table } from "./markdown.ts";

const EXAMPLE = `sources:
  stripe: { preset: stripe, secrets: [env:STRIPE_SECRET, file:secrets/stripe_old] }
  github: { preset: github, path: /hooks/github, secrets: [env:GITHUB_SECRET] }
  shop:
    verify:
      header: x-shop-signature
      prefix: "v1="
      signed: "{timestamp}.{body}"
      timestamp: { header: x-shop-time }
    secrets: [env:SHOP_SECRET]
    id: body:data.id
    type: header:x-shop-topic
    contentTypes: [application/json, application/x-www-form-urlencoded]
    bodyLimit: 2m
    allowedAddresses: [192.0.2.0/24]`;

interface Member {
  description?: string;
  enum?: string[];
  properties?: Record<string, Member>;
  additionalProperties?: Member | false;
}

/** The page of the configuration file, from its JSON Schema. */
export function configurationFilePage(): string {
  const source = (configJsonSchema() as Member).properties?.sources?.additionalProperties;
  if (!source) throw new Error("the schema has no sources");
  const { verify } = source.properties ?? {};
  const { timestamp } = verify?.properties ?? {};
  return page(
    "Configuration file",
    "The file is `authserve.yaml` in the working directory, or the one that `CONFIG_FILE` names. It is YAML 1.2.",
    "`authserve config check` checks it. An error is `FILE:LINE:COLUMN key: what was found, what is expected`.",
    codeBlock(EXAMPLE, "yaml"),
    "Each entry of `sources` is the name of a source: up to 64 small letters, digits and `-`. It has `preset` or `verify`.",
    "## A source",
    membersOf(source),
    "## verify",
    membersOf(verify),
    "A `token` has `header` and `prefix` only, and `basic` has neither.",
    "## timestamp",
    membersOf(timestamp),
  );
}

function membersOf(schema: Member | undefined): string {
  const rows = Object.entries(schema?.properties ?? {}).map(([name, member]) => {
    const { description = "" } = member;
    return [code(name), `${description}${choicesOf(name, member)}`];
  });
  return table(["key", "meaning"], rows);
}

/** The words that a key may have. Presets are too many. */
function choicesOf(name: string, { enum: words }: Member): string {
  return words && name !== "preset" ? ` One of ${words.map(code).join(", ")}.` : "";
}
