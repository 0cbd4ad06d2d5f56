/** Quotes text as one word of a command line, for sh, zsh and fish. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Text as one word of a command line, quoted only if needed. */
export function shellWord(text: string): string {
  return /^[\w./+@-]+$/.test(text) ? text : quoted(text);
}
