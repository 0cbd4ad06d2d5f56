/** Keeps the event loop at work for so long. */
export function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
