import { isInQuery } from "../content/body.ts";
import { type Content, FORM } from "../content/content.ts";
import type { OwnPart } from "./signed-text.ts";

/**
 * The fields of a form, sorted by name, each name followed by its value, as Twilio, Mandrill and Plivo sign them behind
 * the address. It is empty for a query, which is in the address.
 */
export const SORTED_FORM: OwnPart = {
  read({ method, content }) {
    if (isInQuery(method)) return Buffer.alloc(0);
    return isForm(content) ? sortedFields(content.form()) : null;
  },
  covers: { body: true },
};

/** Whether a body is a form, and not something else that is called so, of which nothing would be signed. */
function isForm({ mediaType, bytes, form }: Content): boolean {
  return mediaType === FORM && (bytes.length === 0 || form().size > 0);
}

const sorted = new WeakMap<URLSearchParams, Uint8Array>();

/** Equal fields count once. It is asked for each address. */
function sortedFields(form: URLSearchParams): Uint8Array {
  const known = sorted.get(form) ?? Buffer.from(sortedText(form));
  sorted.set(form, known);
  return known;
}

function sortedText(form: URLSearchParams): string {
  // One pass: anybody may send a form with very many names.
  const byName = [...Map.groupBy(form, ([name]) => name)].sort(([one], [other]) => (one < other ? -1 : 1));
  return byName.flatMap(([name, fields]) => [...new Set(fields.map(([, value]) => name + value))].sort()).join("");
}
