import type { Credential } from "../signature/secret.ts";
import type { SourceRecord } from "./source-store.ts";

/** A configured source with what it has received and refused. */
export interface SourceOverview
  extends Pick<SourceRecord, "received" | "refused" | "refusals" | "lastReceivedAt" | "lastSecret"> {
  name: string;
  path: string;
  preset: string | null;
  /** Where its secrets and public keys are set, e.g. `env:NAME`. */
  secrets: string[];
}

interface ListedSource extends Pick<SourceOverview, "name" | "path" | "preset"> {
  secrets: readonly Credential[];
  keys?: readonly Credential[];
}

/** The configured sources, each with its record if it has one. */
export function overviewOf(sources: readonly ListedSource[], records: readonly SourceRecord[]): SourceOverview[] {
  const byName = new Map(records.map((record) => [record.source, record]));
  return sources.map(({ name, path, preset, secrets, keys = [] }) => {
    const {
      received = 0,
      refused = 0,
      refusals = {},
      lastReceivedAt = null,
      lastSecret = null,
    } = byName.get(name) ?? {};
    const references = [...secrets, ...keys].map((credential) => credential.name);
    return { name, path, preset, secrets: references, received, refused, refusals, lastReceivedAt, lastSecret };
  });
}
