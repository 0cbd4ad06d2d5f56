import * as v from "valibot";
import { DEFAULT_SOURCE_NAME } from "../../webhook/default-source.ts";
import { pathsOf, type Source } from "../../webhook/source.ts";
import { faultsOf, isMap, type PathFault, shown, unknownKeys } from "./faults.ts";
import { NAME, NAME_EXPECTATION } from "./fields.ts";
import { lineAt, pathOfDefaultSource, type Reading } from "./reading.ts";
import { HandshakeSchema, SourceSchema } from "./schema.ts";
import { sharedSecrets } from "./shared-secrets.ts";
import { readEntry, readSecrets } from "./source-entry.ts";

/** Reads `sources`. They are checked one by one, because valibot leaves out names such as `constructor`. */
export function readSourceList(entries: Record<string, unknown>, reading: Reading): Source[] {
  const { faults, warnings, context } = reading;
  const defaultPath = pathOfDefaultSource(context.environment);
  const paths = new Map<string, string>(defaultPath === null ? [] : [[defaultPath, DEFAULT_SOURCE_NAME]]);
  const sources = Object.entries(entries).flatMap(([name, entry]) => {
    const path = ["sources", name];
    if (!NAME.test(name)) faults.push({ path, at: "key", message: `found ${shown(name, [])}, ${NAME_EXPECTATION}` });
    if (defaultPath !== null && name === DEFAULT_SOURCE_NAME) {
      faults.push({
        path,
        at: "key",
        message: "found a name that WEBHOOK_SECRET already makes, expected another name",
      });
    }
    const source = readSource(name, entry, reading);
    if (source === null) return [];
    const { deliveries, check } = pathsOf(source);
    const all = [...new Set([...deliveries, check])];
    const taken = all.find((one) => paths.has(one)) ?? "";
    const other = paths.get(taken);
    if (other !== undefined) {
      const isOfEnvironment = other === DEFAULT_SOURCE_NAME && defaultPath !== null;
      const at = isOfEnvironment ? "the environment" : `line ${lineAt(reading, ["sources", other], "key")}`;
      faults.push({
        path: [...path, "path"],
        message: `found ${taken} a second time, after ${other} (${at}), expected another path`,
      });
    }
    for (const one of all) paths.set(one, name);
    return [source];
  });
  const shared = sharedSecrets(sources, context.defaultSecrets);
  faults.push(...shared.faults);
  warnings.push(...shared.warnings);
  return sources;
}

function readSource(name: string, entry: unknown, { context, faults, warnings }: Reading): Source | null {
  const base = ["sources", name];
  if (!isMap(entry)) {
    faults.push({
      path: base,
      message: `found ${shown(entry, [])}, expected a map with preset or verify, and secrets`,
    });
    return null;
  }
  const unknown = [
    ...unknownKeys(entry, SourceSchema, base),
    ...unknownKeys(entry.handshake, HandshakeSchema, [...base, "handshake"]),
  ];
  const result = v.safeParse(SourceSchema, entry);
  const wrong = faultsOf(result.issues ?? [], base);
  faults.push(...unknown, ...wrong);
  const below = (fault: PathFault): PathFault => ({ ...fault, path: [...base, ...fault.path] });
  if (!result.success && wrong.length > 0) {
    const references = v.safeParse(SourceSchema.entries.secrets, entry.secrets);
    if (references.success) faults.push(...readSecrets(references.output ?? [], [], context).faults.map(below));
    return null;
  }
  // An unknown key does not hide the other faults.
  const known = result.success ? result.output : (result.output as v.InferOutput<typeof SourceSchema>);
  const read = readEntry(name, known, context);
  faults.push(...read.faults.map(below));
  warnings.push(...read.warnings.map(below));
  return unknown.length > 0 ? null : read.source;
}
