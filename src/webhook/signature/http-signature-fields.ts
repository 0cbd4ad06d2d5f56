import { trimSpace } from "../../lib/header-value.ts";

/** A signature in headers, and what it says that it covers. Nothing is verified. */
export interface HttpSignature {
  /** What it covers: a header in lower case, or a part of the request such as `@method`. */
  components: readonly string[];
  /** Null for a value of another kind. */
  parameters: Readonly<Record<string, string | number | null>>;
  /** The parameters as they are signed (RFC 9421, 2.3). */
  signedParameters: string;
  signature: Buffer;
}

// A proxy may add some to that of the sender.
const MAX_MEMBERS = 10;
// Each costs a check with each key.
const MAX_SIGNATURES = 4;
const MAX_COMPONENTS = 50;

/** Reads a text from its beginning. */
function createReader(text: string) {
  let at = 0;
  return {
    /** The groups of a sticky pattern at the present place; null if it is not there. */
    take(pattern: RegExp): RegExpExecArray | null {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found !== null) at = pattern.lastIndex;
      return found;
    },
    isAtEnd: () => at === text.length,
  };
}

const KEY = /([a-z*][a-z0-9_.*-]*)/y;
const OPEN = /\( */y;
const CLOSE = / *\)/y;
const NEXT = / +/y;
const NAME = /"([a-z0-9@_.-]+)"/y;
const BYTES = /:([A-Za-z0-9+/]*={0,2}):/y;
// A whole number, a text, or another bare item (RFC 9651, 3.3).
const PARAMETER =
  /; *([a-z*][a-z0-9_.*-]*)(?:=(?:(-?[0-9]{1,15})(?![0-9.])|"((?:[ !#-[\]-~]|\\["\\])*)"|([^ ,;()"]+)))?/y;
const EQUALS = /=/y;
const COMMA = /[ \t]*,[ \t]*/y;

type Reader = ReturnType<typeof createReader>;

/**
 * Reads the members of a dictionary (RFC 9651, 3.2), each by its own reader. Null if the text has another form, or a
 * name twice.
 */
function readDictionary<T>(text: string, readMember: (reader: Reader) => T | null): Map<string, T> | null {
  const reader = createReader(trimSpace(text));
  const members = new Map<string, T>();
  do {
    const [, name = ""] = reader.take(KEY) ?? [];
    const member = name !== "" && reader.take(EQUALS) ? readMember(reader) : null;
    if (member === null || members.has(name) || members.size === MAX_MEMBERS) return null;
    members.set(name, member);
  } while (reader.take(COMMA));
  return reader.isAtEnd() ? members : null;
}

const readBytes = (reader: Reader) => {
  const [, encoded] = reader.take(BYTES) ?? [];
  return encoded === undefined ? null : Buffer.from(encoded, "base64");
};

/** Reads parameters as they are signed. Null if one has no such form, or is there twice. */
function readParameters(reader: Reader): Pick<HttpSignature, "parameters" | "signedParameters"> | null {
  const parameters: Record<string, string | number | null> = {};
  let signedParameters = "";
  for (let found = reader.take(PARAMETER); found !== null; found = reader.take(PARAMETER)) {
    const [, name = "", number, text, other] = found;
    if (Object.hasOwn(parameters, name)) return null;
    parameters[name] = number === undefined ? (text?.replace(/\\(.)/g, "$1") ?? null) : Number(number);
    const value = number ?? (text === undefined ? other : `"${text}"`);
    signedParameters += value === undefined ? `;${name}` : `;${name}=${value}`;
  }
  return { parameters, signedParameters };
}

/** Plain components as a signature with parameters names them. */
export const listOf = (components: readonly string[]) => `(${components.map((name) => `"${name}"`).join(" ")})`;

/** Reads a list of components, and the parameters of the signature. */
function readInput(reader: Reader): (Omit<HttpSignature, "signature"> & { isReadable: boolean }) | null {
  const components: string[] = [];
  let isReadable = true;
  if (!reader.take(OPEN)) return null;
  while (!reader.take(CLOSE)) {
    if (components.length > 0 && !reader.take(NEXT)) return null;
    const [, name] = reader.take(NAME) ?? [];
    const own = name === undefined ? null : readParameters(reader);
    if (name === undefined || own === null || components.length === MAX_COMPONENTS) return null;
    // What a component with parameters stands for, or one that is there twice, is not known here.
    if (own.signedParameters !== "" || components.includes(name)) isReadable = false;
    components.push(name);
  }
  const found = readParameters(reader);
  return found && { components, isReadable, ...found, signedParameters: listOf(components) + found.signedParameters };
}

/**
 * The signatures in `Signature-Input` and `Signature` (RFC 9421, 4) whose components are plain. Null if the headers
 * have another form.
 */
export function readHttpSignatures(input: string, signatures: string): HttpSignature[] | null {
  const inputs = readDictionary(input, readInput);
  const bytes = readDictionary(signatures, readBytes);
  if (inputs === null || bytes === null) return null;
  const signed = [...inputs].flatMap(([label, found]) => {
    const signature = bytes.get(label);
    return signature === undefined || !found.isReadable ? [] : { ...found, signature };
  });
  return signed.slice(0, MAX_SIGNATURES);
}

const PAIR = /([a-zA-Z]+)=(?:"([^"\\]*)"|([0-9]{1,15}))/y;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The signature in a header of the draft before RFC 9421; null if it has another form. */
export function readDraftSignature(value: string): HttpSignature | null {
  const reader = createReader(trimSpace(value));
  const parameters: Record<string, string | number> = {};
  do {
    const [, name = "", text, number] = reader.take(PAIR) ?? [];
    if (name === "" || Object.hasOwn(parameters, name)) return null;
    parameters[name] = text ?? Number(number);
  } while (reader.take(COMMA));
  const { headers = "date", signature } = parameters;
  if (!reader.isAtEnd() || typeof headers !== "string" || typeof signature !== "string" || !BASE64.test(signature))
    return null;
  const components = headers.toLowerCase().split(" ");
  const isTooLong = components.length > MAX_COMPONENTS || new Set(headers.split(" ")).size < components.length;
  return isTooLong
    ? null
    : { components, parameters, signedParameters: "", signature: Buffer.from(signature, "base64") };
}

/** The digests in `Content-Digest` (RFC 9530), or in `Digest` (RFC 3230), by algorithm; null without that form. */
export function readDigests(name: "content-digest" | "digest", value: string): Map<string, Buffer> | null {
  if (name === "content-digest") return readDictionary(value, readBytes);
  const items = value.split(",").map(trimSpace);
  if (items.length > MAX_SIGNATURES) return null;
  const digests = new Map<string, Buffer>();
  for (const item of items) {
    const at = item.indexOf("=");
    const algorithm = item.slice(0, Math.max(at, 0)).toLowerCase();
    const encoded = item.slice(at + 1);
    if (algorithm === "" || digests.has(algorithm) || !BASE64.test(encoded)) return null;
    digests.set(algorithm, Buffer.from(encoded, "base64"));
  }
  return digests;
}
