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
