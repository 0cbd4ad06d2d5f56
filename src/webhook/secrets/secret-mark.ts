import { hash } from "node:crypto";

/**
 * Returns a mark of a secret's value, which is stored beside its name. It changes when the value does. It has 16 bits
 * only: enough to notice a change, and too few to find a random value by.
 */
export function markOf(value: string): string {
  return hash("sha256", `authserve secret mark\0${value}`).slice(0, 4);
}
