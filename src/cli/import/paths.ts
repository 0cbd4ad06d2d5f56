const MAX_PATTERN = 1000;
const MAX_PATHS = 50;

/** How a pattern may end: what is then the end of its paths. */
const ENDS: readonly (readonly [end: string, rest: "anything" | "nothing" | "a slash"])[] = [
  ["(/.*)?$", "anything"],
  ["(?:/.*)?$", "anything"],
  [".*$", "anything"],
  [".*", "anything"],
  ["/?$", "a slash"],
  ["$", "nothing"],
  ["", "anything"],
];

/**
 * The paths of `access` that a regular expression describes, and none that it does not: what may end within a segment
 * is taken for whole segments. `/**` is every path. Null if they cannot be told.
 */
export function pathsOf(pattern: string): string[] | null {
  const paths = alternativesOf(pattern)?.map(pathsOfAlternative) ?? [null];
  return paths.includes(null) ? null : [...new Set((paths as string[][]).flat())];
}

/** The alternatives of a pattern with groups such as `(api|feed)`. Null if they are too many. */
function alternativesOf(pattern: string): string[] | null {
  const open = pattern.length > MAX_PATTERN ? [] : [pattern];
  const done: string[] = [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [group, inner = ""] = /\((?:\?:)?([^()]*)\)(?![?*+{])/.exec(next) ?? [];
    if (group === undefined) done.push(...next.split("|"));
    else for (const text of inner.split("|")) open.push(next.replace(group, () => text));
    if (open.length + done.length > MAX_PATHS) return null;
  }
  return done.length === 0 ? null : done;
}

function pathsOfAlternative(pattern: string): string[] | null {
  const [end = "", rest] = ENDS.find(([text]) => pattern.endsWith(text)) ?? [];
  const given = pattern.slice(0, pattern.length - end.length);
  // It repeats what is before it.
  if (given.includes("*")) return null;
  const path = given
    .replace(/^\^/, "")
    .replace(/\\([./_~-])/g, "$1")
    .replaceAll("[^/]+", "*");
  const isPath = /^\/(?:(?:\*|[\w.~@:,-]+)\/)*(?:\*|[\w.~@:,-]+)?$/.test(`/${path.replace(/^\//, "")}`);
  if (!isPath || /\/\.{1,2}(?:\/|$)/.test(path) || (path === "" && rest !== "anything")) return null;
  if (path !== "" && !path.startsWith("/")) return null;
  if (rest === "nothing") return [path];
  const folder = path.replace(/\/$/, "");
  return rest === "a slash" ? [folder, `${folder}/`].filter((one) => one !== "") : [`${folder}/**`];
}
