import { formEncoded } from "./form-encoded.ts";

/**
 * How a text is written in payloads: as it is, in an urlencoded form, and in JSON whose sender escapes slashes or all
 * characters beyond ASCII, as PHP and Python do.
 */
export function spellingsOf(text: string): string[] {
  const inForm = formEncoded(text);
  const inJson = JSON.stringify(text).slice(1, -1);
  const inAscii = inJson.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const all = [text, inForm, inForm.replaceAll("+", "%20"), inJson, inAscii];
  return [...new Set([...all, ...[inJson, inAscii].map((json) => json.replaceAll("/", "\\/"))])];
}
