import { type Environment, readSettings } from "../../config/settings.ts";
import { readSources } from "../../config/sources.ts";
import { type AddressCopies, openAddressCopies } from "../../webhook/addresses/address-copies.ts";
import type { FollowedDocument } from "../../webhook/addresses/followed-documents.ts";
import { rotationFindings } from "../../webhook/secrets/rotation.ts";
import { type KeySetCopies, openKeySetCopies } from "../../webhook/signature/key-set.ts";
import { keySetsOf } from "../../webhook/signature/key-sets.ts";
import type { Source } from "../../webhook/source.ts";
import { counted } from "../output.ts";
import { sourceRecords } from "../stores.ts";
import { type Finding, ok, warning, wrongSettings } from "./finding.ts";

/**
 * Checks the configuration file, the lists of addresses and the public keys at URLs. If the database can be read,
 * checks whether the senders use the newest secrets.
 */
export async function checkSources(environment: Environment, canRead: boolean, now: number): Promise<Finding[]> {
  let sources: Source[];
  try {
    sources = readSources(environment);
  } catch (error) {
    return wrongSettings("sources", error);
  }
  const records = canRead ? await sourceRecords(environment) : [];
  const bySource = new Map(records.map((record) => [record.source, record]));
  const rotations = sources.flatMap((source) => rotationFindings(source, bySource.get(source.name), now));
  const { DATA_DIR: dataDir } = readSettings(environment, ["DATA_DIR"]);
  return [
    ok("sources", counted(sources.length, "source")),
    ...rotations.map(({ found, remedy }) => warning("secrets", found, remedy)),
    ...checkAddressLists(sources, openAddressCopies(dataDir), now),
    ...checkKeySets(sources, openKeySetCopies(dataDir), now),
  ];
}

const DAY_MS = 86_400_000;
const OLD_DAYS = 7;

/**
 * Checks that the server could read each list of addresses from a URL lately. Broken files are faults of the
 * configuration.
 */
function checkAddressLists(sources: readonly Source[], copies: AddressCopies, now: number): Finding[] {
  const lists = sources.flatMap(({ addressLists }) => addressLists ?? []).filter(({ kind }) => kind === "url");
  const remedy = "see address_list_error in the log, and fetch the list from this machine";
  return findingsOf("addresses", lists, copies, remedy, now);
}

/** Checks that the server could read each set of public keys lately. */
function checkKeySets(sources: readonly Source[], copies: KeySetCopies, now: number): Finding[] {
  const remedy = "see key_set_error in the log, and fetch the keys from this machine";
  return findingsOf("keys", sources.flatMap(keySetsOf), copies, remedy, now);
}

interface Copies {
  read(document: Pick<FollowedDocument, "id">): { readAt: number } | null;
}

function findingsOf(
  check: string,
  documents: readonly FollowedDocument[],
  copies: Copies,
  remedy: string,
  now: number,
): Finding[] {
  const byId = new Map(documents.map((document) => [document.id, document]));
  return [...byId.values()].flatMap((document) => {
    const copy = copies.read(document);
    if (copy === null) return warning(check, `${document.name} has never been read`, remedy);
    const days = Math.floor((now - copy.readAt) / DAY_MS);
    return days < OLD_DAYS ? [] : warning(check, `${document.name} was last read ${counted(days, "day")} ago`, remedy);
  });
}
