/** An event of the test. A sender numbers its events from 1, through all rounds. */
export interface TestEvent {
  round: number;
  sender: number;
  number: number;
}

// Every tenth payload is larger than a page of the database.
const LARGE_BYTES = 8 * 1024;

/** The id of an event, e.g. `r12-s3-45`. */
export function idOf({ round, sender, number }: TestEvent): string {
  return `r${round}-s${sender}-${number}`;
}

/** The event with this id. Null for the id of no such event. */
export function eventOf(id: string): TestEvent | null {
  const found = /^r([0-9]+)-s([0-9]+)-([0-9]+)$/.exec(id);
  return found && { round: Number(found[1]), sender: Number(found[2]), number: Number(found[3]) };
}

/** The payload of an event. It follows from the id, so that a stored one can be compared. */
export function payloadOf(event: TestEvent): string {
  const filling = event.number % 10 === 0 ? "x".repeat(LARGE_BYTES) : "";
  return JSON.stringify({ id: idOf(event), type: "selftest.crash", sender: event.sender, filling });
}
