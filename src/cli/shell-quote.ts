/** Text as one word of a command line, for sh, zsh and fish. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text as one word of a shell's command, quoted only where it must be. */
export function shellWord(text: string): string {
  return /^[\w./+@-]+$/.test(text) ? text : quoted(text);
}
