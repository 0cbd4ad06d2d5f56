/** Text from outside on one line, unable to control a terminal: control and format characters as `\\u{…}`. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** A text of several lines as such: each {@link printable}, but for its tabs. */
export function printableLines(text: string): string {
  const line = (from: string) => from.split("\t").map(printable).join("\t");
  return text
    .split(/\r\n|\r|\n/)
    .map(line)
    .join("\n");
}

/** JSON with the control characters that it may leave raw, DEL and C1, escaped: a terminal would obey them. */
export function withoutRawControls(json: string): string {
  return json.replace(/[\u007f-\u009f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
