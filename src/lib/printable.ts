/** Makes untrusted text safe for one line of a terminal: escapes control and format characters as `\\u{…}`. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Applies {@link printable} to each line of a text. Line breaks and tabs are kept. */
export function printableLines(text: string): string {
  const line = (from: string) => from.split("\t").map(printable).join("\t");
  return text
    .split(/\r\n|\r|\n/)
    .map(line)
    .join("\n");
}
