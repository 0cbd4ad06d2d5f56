/** Blocks the event loop for this time. */
export function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
