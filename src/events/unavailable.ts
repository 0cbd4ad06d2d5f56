/** How often a worker notes the routes whose targets are unavailable. */
export const NOTE_EVERY_MS = 5000;

/** A note that is older says nothing: the process of its worker has ended. */
export const NOTED_FOR_MS = 4 * NOTE_EVERY_MS;
