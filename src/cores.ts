import { availableParallelism } from "node:os";

/** The cores of the machine but one, and at least one: what may be kept busy without holding up the rest of the server. */
export function coresButOne(): number {
  return Math.max(availableParallelism() - 1, 1);
}
