/** Settles as the work does, or rejects with what `onTimeout` makes when the work takes longer. The work itself goes on. */
export async function timeout<T>(ms: number, work: Promise<T>, onTimeout: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms);
  });
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer));
}
