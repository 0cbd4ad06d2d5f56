import type { AddressCopies } from "../../webhook/address-copies.ts";
import type { AddressList } from "../../webhook/address-list.ts";
import type { Source } from "../../webhook/source.ts";
import { counted } from "../output.ts";
import { type Finding, warning } from "./finding.ts";

const DAY_MS = 86_400_000;
const OLD_DAYS = 7;

/** Checks that the server could read each list of addresses from a URL lately. Broken files are faults of the configuration. */
export function checkAddressLists(sources: readonly Source[], copies: AddressCopies, now: number): Finding[] {
  const lists = sources.flatMap(({ addressLists }) => addressLists ?? []).filter(({ kind }) => kind === "url");
  const byId = new Map(lists.map((list) => [list.id, list]));
  return [...byId.values()].flatMap((list) => findingOf(list, copies, now) ?? []);
}

function findingOf(list: AddressList, copies: AddressCopies, now: number): Finding | null {
  const copy = copies.read(list);
  const remedy = "see address_list_error in the log, and fetch the list from this machine";
  if (copy === null) return warning("addresses", `${list.name} has never been read`, remedy);
  const days = Math.floor((now - copy.readAt) / DAY_MS);
  if (days < OLD_DAYS) return null;
  return warning("addresses", `${list.name} was last read ${counted(days, "day")} ago`, remedy);
}
