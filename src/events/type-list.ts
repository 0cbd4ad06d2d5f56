/** Whether a filter's type is a list for {@link typeList}, and not the name of one type. */
export const isTypeList = (type: string) => type.includes("*");

/**
 * Reads a list of types such as `invoice.*,!invoice.draft`, in which `*` is any text and `!` leaves out. The work for a
 * type grows with its length only, whatever the list is: a stranger may have written it.
 */
export function typeList(list: string): (type: string) => boolean {
  const entries = list.split(",").flatMap((entry) => entry.trim() || []);
  const wanted = entries.filter((entry) => !entry.startsWith("!")).map(pattern);
  const unwanted = entries.filter((entry) => entry.startsWith("!")).map((entry) => pattern(entry.slice(1)));
  return (type) =>
    (wanted.length === 0 || wanted.some((matches) => matches(type))) && !unwanted.some((matches) => matches(type));
}

/** The one type that a filter names; undefined if it has none or a list. */
export const oneTypeOf = ({ type }: { type?: string }): string | undefined =>
  type === undefined || isTypeList(type) ? undefined : type;

/** Whether the type of a filter takes a type. */
export const typeFilter = (type: string): ((type: string) => boolean) =>
  isTypeList(type) ? typeList(type) : (one) => one === type;

function pattern(glob: string): (type: string) => boolean {
  const [start = "", ...others] = glob.split("*");
  const end = others.pop();
  if (end === undefined) return (type) => type === start;
  return (type) => {
    if (!type.startsWith(start) || !type.endsWith(end)) return false;
    const limit = type.length - end.length;
    let from = start.length;
    for (const part of others) {
      const found = type.indexOf(part, from);
      if (found === -1) return false;
      from = found + part.length;
    }
    return from <= limit;
  };
}
