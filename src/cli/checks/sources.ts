import { type Environment, readSettings } from "../../config/settings.ts";
import { readSources } from "../../config/sources.ts";
import { DAY_MS } from "../../lib/durations.ts";
import { openAddressCopies } from "../../webhook/addresses/address-lists.ts";
import type { DocumentCopies } from "../../webhook/addresses/document-copies.ts";
import type { FollowedDocument } from "../../webhook/addresses/followed-documents.ts";
import { rotationFindings } from "../../webhook/secrets/rotation.ts";
import { keySetsOf, openKeySetCopies } from "../../webhook/signature/key-sets.ts";
import type { Source } from "../../webhook/source.ts";
import { counted } from "../output.ts";
import { readIfAny } from "../stores.ts";
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
  const records = canRead ? await readIfAny(environment, [], (stores) => stores.sources.list()) : [];
  const bySource = new Map(records.map((record) => [record.source, record]));
  const rotations = sources.flatMap((source) => rotationFindings(source, bySource.get(source.name), now));
  const { DATA_DIR: dataDir } = readSettings(environment, ["DATA_DIR"]);
  const lists = {
    check: "addresses",
    documents: sources.flatMap(({ addressLists = [] }) => addressLists.filter(({ kind }) => kind === "url")),
    copies: openAddressCopies(dataDir),
    remedy: "see address_list_error in the log, and fetch the list from this machine",
  };
  const keySets = {
    check: "keys",
    documents: sources.flatMap(keySetsOf),
    copies: openKeySetCopies(dataDir),
    remedy: "see key_set_error in the log, and fetch the keys from this machine",
  };
  return [
    ok("sources", counted(sources.length, "source")),
    ...rotations.map(({ found, remedy }) => warning("secrets", found, remedy)),
    ...documentFindings(lists, now),
    ...documentFindings(keySets, now),
  ];
}

const OLD_DAYS = 7;

/** Documents at URLs, and the last good content of each. */
interface Fetched {
  check: string;
  documents: readonly FollowedDocument[];
  copies: Pick<DocumentCopies<object>, "read">;
  remedy: string;
}

/** Checks that the server could read each document lately. Broken files are faults of the configuration. */
function documentFindings({ check, documents, copies, remedy }: Fetched, now: number): Finding[] {
  const byId = new Map(documents.map((document) => [document.id, document]));
  return [...byId.values()].flatMap((document) => {
    const copy = copies.read(document);
    if (copy === null) return warning(check, `${document.name} has never been read`, remedy);
    const days = Math.floor((now - copy.readAt) / DAY_MS);
    return days < OLD_DAYS ? [] : warning(check, `${document.name} was last read ${counted(days, "day")} ago`, remedy);
  });
}
