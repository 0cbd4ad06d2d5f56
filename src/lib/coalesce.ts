/**
 * Shares one read between all calls with the same key in one turn of the event loop. The read begins after the turn, so
 * no caller gets a result that is older than its call.
 */
export function coalesce<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const pending = new Map<string, Promise<T>>();
  return (key) => {
    const waiting = pending.get(key);
    if (waiting !== undefined) return waiting;
    const result = new Promise<T>((resolve) => {
      setImmediate(() => {
        pending.delete(key);
        resolve(read(key));
      });
    });
    pending.set(key, result);
    return result;
  };
}
