import { type Environment, readSettings } from "../../config/settings.ts";
import { readSources } from "../../config/sources.ts";
import { openAddressCopies } from "../../webhook/addresses/address-copies.ts";
import { rotationFindings } from "../../webhook/secrets/rotation.ts";
import { openKeySetCopies } from "../../webhook/signature/key-set.ts";
import type { Source } from "../../webhook/source.ts";
import { counted } from "../output.ts";
import { sourceRecords } from "../stores.ts";
import { checkAddressLists, checkKeySets } from "./documents.ts";
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
