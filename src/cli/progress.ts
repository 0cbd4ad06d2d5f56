const BAR_WIDTH = 30;
const REDRAW_MS = 100;
// Before that a rate says little.
const LEAST_MS = 500;

/** How far a long command is. */
export interface Progress {
  /** Draws how much is done. */
  update(done: number, total: number): void;
  /** Leaves the line, which stays as it was drawn last. */
  end(): void;
}

/**
 * Draws a bar with percentage, rate and remaining time on standard error, where that is a terminal. `rateOf` says in words
 * how much is done in a second.
 */
export function createProgress(rateOf: (perSecond: number) => string): Progress {
  if (!process.stderr.isTTY) return { update() {}, end() {} };
  const startedAt = performance.now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    update(done, total) {
      const now = performance.now();
      if (now - drawnAt < REDRAW_MS && done < total) return;
      drawnAt = now;
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const words = `] ${String(Math.floor(share * 100)).padStart(3)} %${speed(done, total, now - startedAt, rateOf)}`;
      // A line that reaches the last column begins a new one. A terminal that does not know its width says 0.
      const room = (process.stderr.columns || 80) - 2 - words.length;
      const width = Math.max(0, Math.min(BAR_WIDTH, room));
      const bar = "#".repeat(Math.round(share * width)).padEnd(width, ".");
      process.stderr.write(`\r\u001b[K[${bar}${words}`);
    },
    end: () => void process.stderr.write("\n"),
  };
}

function speed(done: number, total: number, tookMs: number, rateOf: (perSecond: number) => string): string {
  if (tookMs < LEAST_MS || done === 0) return "";
  const perSecond = (done * 1000) / tookMs;
  const left = Math.ceil((total - done) / perSecond);
  return `  ${rateOf(perSecond)}${left > 0 ? `  ${left} s left` : ""}`;
}

/** A number of bytes in a second. */
export const megabytesPerSecond = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB/s`;
