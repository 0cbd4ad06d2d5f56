/** Where the page is: the parts of the path, and the query, both decoded. */
interface Place {
  path: readonly string[];
  query: Readonly<Record<string, string>>;
}

/** Reads a place from the hash of an address, e.g. `#/events/evt_1?source=shop`. */
export function parsePlace(hash: string): Place {
  const [path = "", query = ""] = splitOnce(hash.replace(/^#/, ""), "?");
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Writes the hash of a place. Members of the query without a value are left out. */
export function hashOf(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const named = Object.entries(query).filter((member): member is [string, string] => Boolean(member[1]));
  const search = new URLSearchParams(named).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
