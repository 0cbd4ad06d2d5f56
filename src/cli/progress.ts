const BAR_WIDTH = 30;
const REDRAW_MS = 100;
// A rate is not reliable before this time.
const MIN_RATE_MS = 500;

/** Shows the progress of a long command. */
interface ProgressBar {
  /** Redraws the bar. */
  update(done: number, total: number): void;
  /** Ends the line and leaves the bar as it is. */
  end(): void;
}

/**
 * Creates a progress bar with percentage, rate and remaining time. It is drawn on standard error, if that is a
 * terminal. `rateOf` formats the rate, e.g. as `12 MB/s`.
 */
export function createProgressBar(rateOf: (perSecond: number) => string): ProgressBar {
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
      // A line that reaches the last column would wrap. `columns` is 0 if the terminal does not know its width.
      const room = (process.stderr.columns || 80) - 2 - words.length;
      const width = Math.max(0, Math.min(BAR_WIDTH, room));
      const bar = "#".repeat(Math.round(share * width)).padEnd(width, ".");
      process.stderr.write(`\r\u001b[K[${bar}${words}`);
    },
    end: () => void process.stderr.write("\n"),
  };
}

function speed(done: number, total: number, tookMs: number, rateOf: (perSecond: number) => string): string {
  if (tookMs < MIN_RATE_MS || done === 0) return "";
  const perSecond = (done * 1000) / tookMs;
  const left = Math.ceil((total - done) / perSecond);
  return `  ${rateOf(perSecond)}${left > 0 ? `  ${left} s left` : ""}`;
}

/** Formats a rate in bytes per second. */
export const megabytesPerSecond = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB/s`;
