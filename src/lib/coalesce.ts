/**
 * Shares one read between all who ask for the same key in one turn of the event loop. The read begins when the turn
 * is over, so after every one of them asked: none gets an answer older than its question.
 */
export function coalesce<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const asked = new Map<string, Promise<T>>();
  return (key) => {
    const waiting = asked.get(key);
    if (waiting) return waiting;
    const answer = new Promise<T>((resolve) => {
      setImmediate(() => {
        asked.delete(key);
        resolve(read(key));
      });
    });
    asked.set(key, answer);
    return answer;
  };
}
