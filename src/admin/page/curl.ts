/** What a command sends. */
interface Delivery {
  payload: string;
  /** Only there if the payload is not UTF-8. */
  payloadBase64?: string | undefined;
  contentType: string;
  url: string;
  /** More headers, by name. */
  headers?: Readonly<Record<string, string>>;
}

/** A curl command that sends a payload, for bash and zsh. Null if no command line can hold it. */
export function curlCommand({ payload, payloadBase64, contentType, url, headers = {} }: Delivery): string | null {
  if (payloadBase64 !== undefined || payload.includes("\0") || contentType.includes("\0")) return null;
  // Not --data-binary: it would read a file if the payload begins with "@".
  return [
    `curl ${quoted(url)}`,
    ...Object.entries({ "Content-Type": contentType, ...headers }).map(
      ([name, value]) => `-H ${quoted(`${name}: ${value}`)}`,
    ),
    `--data-raw ${quoted(payload)}`,
  ].join(" \\\n  ");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0001-\u001f\u007f-\u009f]/g;
const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Quotes text as one word. Control characters are escaped: pasted into a terminal, they would be taken as keys. */
function quoted(text: string): string {
  if (text.search(CONTROL) < 0) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text.replace(/[\\']/g, "\\$&").replace(CONTROL, (found) => SHORT[found] ?? codeOf(found));
  return `$'${escaped}'`;
}

const codeOf = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
