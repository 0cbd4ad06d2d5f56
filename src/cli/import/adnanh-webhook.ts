import { OperatorError } from "../../errors.ts";
import { parseRange } from "../../lib/address-range.ts";
import { isObject } from "../../lib/json.ts";
import { isConfidential } from "../../webhook/content/stored-headers.ts";
import { type Draft, need, note } from "./draft.ts";
import { needServer } from "./login.ts";
import { readYamlDocuments } from "./options.ts";

type Json = Record<string, unknown>;

/** A value of the request that a hook refers to. */
interface Reference {
  source: string;
  name: string;
  envname?: string;
}

/** What a part of a hook cannot become, and what to do instead. */
class NotCarried extends Error {
  readonly instead: string;

  constructor(what: string, instead: string) {
    super(what);
    this.instead = instead;
  }
}

const KNOWN =
  /^(?:id|execute-command|command-working-directory|pass-arguments-to-command|pass-environment-to-command|trigger-rule|response-message|response-headers|success-http-response-code|http-methods|pass-file-to-command|parse-parameters-as-json|trigger-signature-soft-failures)$/;

const OTHERS: Record<string, string> = {
  "include-command-output-in-response": "the answer does not wait for the command: see authserve events show ID",
  "include-command-output-in-response-on-error": "see authserve events show ID",
  "trigger-rule-mismatch-http-response-code": "a wrong signature gets 403, and other events no route",
  "incoming-payload-content-type": "the sender's own Content-Type counts: see contentTypes of the source",
};

const MAX_HOOKS = 1000;

/** Reads the hooks of adnanh/webhook, as JSON or YAML. Throws {@link OperatorError}. */
export function importAdnanhWebhook(text: string, draft: Draft): void {
  const hooks = readYamlDocuments(text).flat().filter(isObject);
  if (hooks.length > MAX_HOOKS) throw new OperatorError(`The file has more than ${MAX_HOOKS} hooks`);
  for (const hook of hooks) addHook(draft, hook);
  needServer(draft);
}

/** A hook, and what several parts of it depend on. */
interface Hook {
  what: string;
  id: string;
  /** The name of its source. */
  name: string;
  keys: Json;
  /** The rules that must all hold, without the proof. */
  rules: Json[];
  /** The rule that proves who sends. */
  proof: Json | undefined;
  /** Whether it reads the query, besides its secret. */
  readsQuery: boolean;
  /** The fields of a form that have JSON. */
  jsonFields: string[];
}

function addHook(draft: Draft, keys: Json): void {
  const id = textIn(keys.id);
  const what = `hook ${id}`;
  const isWhole = id !== "" && textIn(keys["execute-command"]) !== "";
  if (!isWhole) note(draft, what, "give it an id and an execute-command");
  else if (JSON.stringify(keys).includes("{{")) note(draft, what, "has a template: write the value that it makes");
  else carry(draft, hookOf(draft, keys, id, what));
}

function hookOf(draft: Draft, keys: Json, id: string, what: string): Hook {
  const all = rulesOf(keys["trigger-rule"]);
  const proof = proofOf(all);
  const rules = all.filter(({ match }) => match === undefined || match !== proof);
  const references = [rules, keys["pass-arguments-to-command"], keys["pass-environment-to-command"]];
  return {
    what,
    id,
    name: nameOf(id, draft),
    keys,
    rules,
    proof,
    readsQuery: /"source":"(?:url|query|entire-query)"/.test(JSON.stringify(references)),
    jsonFields: listIn(keys["parse-parameters-as-json"]).map(({ name }) => textIn(name)),
  };
}

function carry(draft: Draft, hook: Hook): void {
  const { what, name, keys } = hook;
  try {
    draft.sources[name] = sourceOf(draft, hook);
    draft.routes.push({ name, source: name, ...conditionsOf(hook), ...handlerOf(hook) });
  } catch (error) {
    if (!(error instanceof NotCarried)) throw error;
    note(draft, `${what}: ${error.message}`, error.instead);
    const isStored = name in draft.sources;
    note(draft, what, isStored ? "has a source and no route: add one by hand" : "has no source: add one by hand");
  }
  for (const key of Object.keys(keys).filter((key) => !KNOWN.test(key) && keys[key] !== false))
    note(draft, `${what}: ${key}`, OTHERS[key] ?? "has no counterpart that is known");
}

const textIn = (value: unknown) => (["string", "number", "boolean"].includes(typeof value) ? String(value) : "");
const listIn = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : []);

/** A name of a source that no other has. */
function nameOf(id: string, { sources }: Draft): string {
  const base =
    id
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-/, "")
      .slice(0, 60)
      .replace(/-$/, "") || "hook";
  const name = base === "default" ? "default-hook" : base;
  let number = 1;
  while ((number === 1 ? name : `${name}-${number}`) in sources) number++;
  return number === 1 ? name : `${name}-${number}`;
}

/** The rules that must all hold. */
function rulesOf(rule: unknown): Json[] {
  if (!isObject(rule)) return [];
  return Array.isArray(rule.and) ? rule.and.flatMap(rulesOf) : [rule];
}

const SIGNED = /^payload-h(?:mac|ash)-(sha1|sha256|sha512)$/;
const CREDENTIAL = /token|secret|\bkey|api.?key|authorization|password|signature/i;

function proofOf(rules: readonly Json[]): Json | undefined {
  const matches = rules.flatMap(({ match }) => (isObject(match) ? [match] : []));
  const isToken = ({ type, parameter }: Json) => type === "value" && CREDENTIAL.test(referenceOf(parameter).name);
  return matches.find(({ type }) => SIGNED.test(textIn(type))) ?? matches.find(isToken);
}

function referenceOf(value: unknown): Reference {
  const { source, name, envname } = isObject(value) ? value : {};
  return { source: textIn(source), name: textIn(name), ...(envname !== undefined && { envname: textIn(envname) }) };
}

function sourceOf(draft: Draft, hook: Hook): object {
  const { what, id, name, rules, jsonFields } = hook;
  const isPath = /^[A-Za-z0-9._~/-]+$/.test(id);
  const path = `/hooks/${isPath ? id : name}`;
  if (!isPath) note(draft, `${what}: its URL`, `the sender has to use ${path}`);
  const lists = rules.flatMap(({ match }) =>
    isObject(match) && match.type === "ip-whitelist" ? [match["ip-range"]] : [],
  );
  const ranges = lists.flatMap((list) => textIn(list).trim().split(/\s+/));
  // An address would have to be in all of several lists.
  if (lists.length > 1 || ranges.some((range) => parseRange(range) === null))
    throw new NotCarried("ip-whitelist", "write allowedAddresses of the source");
  return {
    path,
    ...proofIn(draft, hook),
    ...(ranges.length > 0 && { allowedAddresses: ranges }),
    ...(jsonFields.length > 0 && { contentTypes: ["application/json", "application/x-www-form-urlencoded"] }),
    ...methodsOf(draft, hook),
    ...answerOf(draft, hook),
  };
}

/** How the sender proves itself. Without a preset, equal bytes are further events, as a hook takes them. */
function proofIn(draft: Draft, { what, name, rules, proof }: Hook): object {
  // Without a prefix, the one of a hook called webhook would be that of the source default.
  const variable = `HOOK_${name.toUpperCase().replaceAll("-", "_")}_SECRET`;
  const secrets = [`env:${variable}`];
  if (/"payload-h(?:mac|ash)-/.test(JSON.stringify(rules)))
    throw new NotCarried("trigger-rule with several signatures", "make a hook of each alternative");
  if (proof === undefined) {
    need(draft, variable, "openssl rand -hex 32, and add it to the URL of the hook");
    note(draft, what, "has no secret: make one, and add it to the URL as /SECRET");
    return { verify: { type: "token", path: true }, secrets, dedupe: "off" };
  }
  const { source, name: where } = referenceOf(proof.parameter);
  const [, algorithm] = SIGNED.exec(textIn(proof.type)) ?? [];
  const [secret, verify] =
    algorithm === undefined
      ? tokenOf(source, where, textIn(proof.value))
      : ([textIn(proof.secret), signatureOf(source, where, algorithm)] as const);
  draft.env.set(variable, { value: secret, how: "the secret of the hook" });
  return "preset" in verify ? { ...verify, secrets } : { verify, secrets, dedupe: "off" };
}

const PRESETS: Record<string, string> = {
  "x-hub-signature-256": "github",
  "x-gitea-signature": "gitea",
  "x-gogs-signature": "gogs",
  "x-forgejo-signature": "forgejo",
};

function signatureOf(source: string, name: string, algorithm: string): object {
  if (source !== "header") throw new NotCarried(`signature in ${source} ${name}`, "let the sender sign in a header");
  const header = name.toLowerCase();
  const preset = PRESETS[header];
  if (preset !== undefined && algorithm === "sha256") return { preset };
  // Such names are those of WebSub, whose values have the algorithm.
  return { header, algorithm, ...(header.startsWith("x-hub-signature") && { prefix: `${algorithm}=` }) };
}

/** The secret of a rule that compares a value, and where it is. */
function tokenOf(source: string, name: string, value: string): readonly [secret: string, verify: object] {
  if (source === "url" || source === "query") return [value, { type: "token", query: name }];
  if (source === "payload") return [value, { type: "token", body: name }];
  if (source !== "header") throw new NotCarried(`trigger-rule on ${source} ${name}`, "let the sender sign in a header");
  const header = name.toLowerCase();
  if (header === "x-gitlab-token") return [value, { preset: "gitlab" }];
  const [, scheme = "", credential = value] = /^(Basic |Bearer )(.*)$/.exec(value) ?? [];
  if (scheme === "Basic ") return [Buffer.from(credential, "base64").toString(), { type: "basic" }];
  return [credential, { type: "token", header, ...(scheme !== "" && { prefix: scheme }) }];
}

const METHODS = ["POST", "PUT", "PATCH", "GET", "HEAD"];

function methodsOf(draft: Draft, { what, keys, proof, readsQuery }: Hook): object {
  const given = [keys["http-methods"] ?? []].flat().map((one) => textIn(one).trim().toUpperCase());
  const methods = given.filter((method) => METHODS.includes(method));
  for (const method of given.filter((method) => !METHODS.includes(method)))
    note(draft, `${what}: method ${method}`, `the sender has to use one of ${METHODS.join(", ")}`);
  if (readsQuery) {
    note(draft, `${what}: values in the URL`, "the query is read of GET only");
    return { methods: ["GET"] };
  }
  if (methods.length > 0) return { methods };
  return /^(?:url|query)$/.test(referenceOf(proof?.parameter).source) ? { methods: ["POST", "GET"] } : {};
}

function answerOf(draft: Draft, { what, keys }: Hook): object {
  const headers = listIn(keys["response-headers"]).map(({ name, value }) => [textIn(name), textIn(value)] as const);
  const isType = ([name]: readonly [string, string]) => name.toLowerCase() === "content-type";
  const type = headers.find(isType)?.[1];
  for (const [name] of headers.filter((header) => !isType(header)))
    note(draft, `${what}: response-headers ${name}`, "let the proxy add headers to the answer");
  const body = textIn(keys["response-message"]);
  const status = Number(keys["success-http-response-code"] ?? 200);
  const isUsable = status >= 200 && status < 300;
  if (!isUsable) note(draft, `${what}: success-http-response-code`, "the answer has a status from 200 to 299");
  if (body === "" && (status === 200 || !isUsable)) return {};
  return { answer: { ...(isUsable && { status }), ...(type && { type }), ...(body !== "" && { body }) } };
}

/** The rules besides the proof, as `when`. A route without one of them would run for more events. */
function conditionsOf(hook: Hook): object {
  const rest = hook.rules.filter(({ match }) => !isObject(match) || match.type !== "ip-whitelist");
  return rest.length === 0 ? {} : { when: allOf(rest.map((rule) => conditionOf(rule, hook))) };
}

/** Conditions that must all hold, in one map if no name is there twice. */
function allOf(conditions: readonly Json[]): Json {
  const names = conditions.flatMap(Object.keys);
  return new Set(names).size === names.length ? Object.assign({}, ...conditions) : { all: conditions };
}

function conditionOf(rule: Json, hook: Hook, isBelowNot = false): Json {
  const below = (one: Json) => conditionOf(one, hook, isBelowNot);
  if (Array.isArray(rule.and)) return allOf(rulesOf(rule).map(below));
  if (Array.isArray(rule.or)) return { any: rule.or.filter(isObject).map(below) };
  if (isObject(rule.not)) {
    const entries = Object.entries(conditionOf(rule.not, hook, true));
    const [[name = "", test] = []] = entries;
    // Where the member is missing, neither a hook nor this holds.
    const isOne = entries.length === 1 && !["any", "all", "not"].includes(name);
    return isOne ? { [name]: { not: test } } : { not: Object.fromEntries(entries) };
  }
  const match = isObject(rule.match) ? rule.match : {};
  const place = placeOf(referenceOf(match.parameter), hook);
  if (match.type === "value") return { [place]: valuesLike(textIn(match.value)) };
  const test = match.type === "regex" ? testOf(textIn(match.regex), isBelowNot) : null;
  if (test === null) throw new NotCarried(`${textIn(match.type)} on ${place}`, "write when of a route");
  return { [place]: test };
}

/** A text, and the number or truth value that a hook reads as this text. */
function valuesLike(text: string): unknown {
  if (text === "true" || text === "false") return [text, text === "true"];
  return /^-?(?:0|[1-9][0-9]{0,14})$/.test(text) ? [text, Number(text)] : text;
}

/** The name of a condition. */
function placeOf({ source, name }: Reference, hook: Hook): string {
  const header = name.toLowerCase();
  if (source === "header" && !isConfidential(header)) return `header:${header}`;
  const isMember = ["payload", "url", "query"].includes(source);
  if (!isMember || name === "") throw new NotCarried(`${source} ${name}`, "the event does not have it");
  // The JSON in a form is read as if it were the payload.
  const field = hook.jsonFields.find((field) => name.startsWith(`${field}.`));
  return field === undefined ? name : name.slice(field.length + 1);
}

const LITERAL = /^(?:[\w/ :@,-]|\\[./+*?()[\]{}|^$-]|\.(?![*+?{]))*$/;
const unescaped = (text: string) => text.replace(/\\(.)/g, "$1");

/** The test that a regular expression of the usual forms is. Null for others. */
function testOf(regex: string, isBelowNot: boolean): unknown {
  if (/^\^?\.\*\$?$/.test(regex)) return { exists: true };
  const [, start = "", middle = "", end = ""] = /^(\^?)(.*?)((?:\.\*)?\$?)$/s.exec(regex) ?? [];
  const choices = /^\(([^()]*)\)$/.exec(middle)?.[1]?.split("|") ?? [middle];
  // An unescaped dot is any character: taken as a dot it matches less, and below `not` more.
  if (isBelowNot && /(?<!\\)\./.test(middle)) return null;
  if (choices.includes("") || !choices.every((choice) => LITERAL.test(choice))) return null;
  const texts = choices.map(unescaped);
  const [first = "", ...others] = texts;
  if (start === "^" && end === "$") return others.length === 0 ? first : texts;
  if (others.length > 0) return null;
  if (start === "^") return { startsWith: first };
  return end === "$" ? { endsWith: first } : { contains: first };
}

/** The command. What it gets of the payload is made by a transformation, which xargs makes its arguments. */
function handlerOf(hook: Hook): object {
  const { keys } = hook;
  if (listIn(keys["pass-file-to-command"]).length > 0)
    throw new NotCarried("pass-file-to-command", "let the command read the payload from its standard input");
  const folder = textIn(keys["command-working-directory"]);
  const isFolder = folder.startsWith("/");
  if (folder !== "" && !isFolder)
    throw new NotCarried(`command-working-directory ${folder}`, "give the whole path of the folder");
  const given = textIn(keys["execute-command"]);
  const program = isFolder && !given.startsWith("/") && given.includes("/") ? `${folder}/${given}` : given;
  const variables = listIn(keys["pass-environment-to-command"]).map(referenceOf);
  const words = [
    ...variables.map((variable) => wordOf(variable, hook, `${variable.envname || `HOOK_${variable.name}`}=`)),
    { text: program },
    ...listIn(keys["pass-arguments-to-command"]).map((argument) => wordOf(referenceOf(argument), hook, "")),
  ];
  const fixed = words.findIndex(({ expression }) => expression !== undefined);
  const made = fixed === -1 ? [] : words.slice(fixed);
  const command = [
    ...(isFolder ? ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", folder] : []),
    ...(made.length > 0 ? ["xargs", "-0", "-x", "-n", String(made.length)] : []),
    ...(variables.length > 0 ? ["env"] : []),
    ...(made.length > 0 ? words.slice(0, fixed) : words).map(({ text = "" }) => text),
  ];
  return {
    ...(made.length > 0 && { transform: { jsonata: wordsExpression(made) } }),
    exec: { command, timeout: "1h" },
    retry: { attempts: 1 },
  };
}

/** An argument: a text, or an expression of JSONata and what precedes it. */
interface Word {
  text?: string;
  expression?: string;
}

function wordOf({ source, name }: Reference, hook: Hook, prefix: string): Word {
  if (source === "string") return { text: prefix + name };
  const header = name.toLowerCase();
  const expression =
    source === "entire-payload"
      ? "$"
      : source === "entire-headers"
        ? "$event.headers"
        : source === "header" && !isConfidential(header)
          ? `$event.headers.${quoted(header)}`
          : expressionOf(placeOf({ source, name }, hook));
  return { text: prefix, expression };
}

/** The path of a member in JSONata. */
function expressionOf(path: string): string {
  const [first = "", ...rest] = path.split(".");
  return rest.reduce((text, name) => text + (/^[0-9]+$/.test(name) ? `[${name}]` : `.${quoted(name)}`), quoted(first));
}

function quoted(name: string): string {
  if (name === "" || name.includes("`")) throw new NotCarried(`name ${name}`, "let the command read the payload");
  return `\`${name}\``;
}

/** Each word and a NUL, which no word has in it. */
function wordsExpression(words: readonly Word[]): string {
  const parts = words.map(({ text = "", expression }) =>
    expression === undefined
      ? `$w(${JSON.stringify(text)})`
      : `$w(${text === "" ? "" : `${JSON.stringify(text)} & `}${expression})`,
  );
  return `($w := function($v) { $replace($v & "", "\\u0000", "") & "\\u0000" }; ${parts.join(" & ")})`;
}
