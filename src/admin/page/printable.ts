// Control characters, and those that are invisible or turn the direction of the text around them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text in which nothing is invisible: such characters are shown as `\u202e`. Tabs and line ends stay. */
export const printable = (text: string) =>
  text.replace(UNPRINTABLE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
