/** What a provider does with its deliveries. What nobody has published is left out. */
export interface FactValues {
  /** Whether two different events can have the same bytes. */
  sameBytes: boolean;
  /** What a repeat of a delivery changes. The id is the one at the places of `id`, the time the one that is signed. */
  repeatChanges: readonly ("body" | "id" | "time")[];
  /** Whether one delivery can have several events. */
  batches: boolean;
  /** How a delivery looks that is signed with two secrets, while one replaces the other. */
  rotation: string;
  /** The largest body that it sends, in bytes. */
  maxBodyBytes: number;
  /** What it takes for a delivery that arrived. */
  answer: string;
  /** How long it waits for the answer, in seconds. */
  answerSeconds: number;
  /** Whether a delivery that failed is sent again: by itself, only on request, or never. */
  repeats: "automatic" | "manual" | "never";
  /** When it is sent again. */
  schedule: string;
  /** The time from the first to the last attempt, in seconds. */
  repeatsForSeconds: number;
  /** When it stops to deliver to an address that fails. */
  disables: string;
  /** For how long it keeps deliveries that can be looked at or asked for again, in days. */
  keepsDays: number;
}

/** A fact, and the page, package or report that says it. */
export interface Fact<T> {
  is: T;
  source: string;
}

export type ProviderFacts = { readonly [Name in keyof FactValues]?: Fact<FactValues[Name]> };

/** Facts that one page says. */
export function says(source: string, values: Partial<FactValues>): ProviderFacts {
  return Object.fromEntries(Object.entries(values).map(([name, is]) => [name, { is, source }]));
}

export const FACT_NAMES: readonly (keyof FactValues)[] = [
  "sameBytes",
  "repeatChanges",
  "batches",
  "rotation",
  "maxBodyBytes",
  "answer",
  "answerSeconds",
  "repeats",
  "schedule",
  "repeatsForSeconds",
  "disables",
  "keepsDays",
];
