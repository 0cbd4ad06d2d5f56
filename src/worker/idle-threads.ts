/** What a thread, or a process, needs to be kept for later. */
interface Thread {
  /** Resolves when it has ended. */
  terminate(): Promise<unknown>;
}

// One without work is ended after this time.
const IDLE_MS = 30_000;

/** Keeps threads that have no work, which `start` starts. The newest is used first. */
export function createIdleThreads<T extends Thread>(start: () => T, idleMs = IDLE_MS) {
  /** With the timers that end them. */
  const idle = new Map<T, NodeJS.Timeout>();

  /** Keeps a thread no longer. */
  function forget(thread: T): void {
    clearTimeout(idle.get(thread));
    idle.delete(thread);
  }

  return {
    take(): T {
      const thread = [...idle.keys()].at(-1) ?? start();
      forget(thread);
      return thread;
    },
    keep(thread: T): void {
      const end = () => {
        // At once: until it has ended, somebody could take it.
        forget(thread);
        void thread.terminate();
      };
      idle.set(thread, setTimeout(end, idleMs).unref());
    },
    forget,
    /** Ends all. */
    async close(): Promise<void> {
      const threads = [...idle.keys()];
      for (const thread of threads) forget(thread);
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}
