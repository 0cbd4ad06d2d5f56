/** The path and the query of a request target. The query is undefined without a `?`. */
export function splitTarget(target: string): [path: string, query: string | undefined] {
  const at = target.indexOf("?");
  return at === -1 ? [target, undefined] : [target.slice(0, at), target.slice(at + 1)];
}

/** The parameters in the query of a request target. */
export function queryOf(target: string): URLSearchParams {
  return new URLSearchParams(splitTarget(target)[1]);
}
