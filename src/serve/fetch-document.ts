import { sendRequest } from "../lib/send-request.ts";
import { trustSystemAuthorities } from "../lib/system-authorities.ts";

const TIMEOUT_MS = 10_000;

/** A document at a URL, and what its sender says about its age. */
export interface FetchedDocument {
  text: string;
  cacheControl: string | undefined;
}

/** Fetches a document. Throws an error if the answer is not 200 or has more than `maxBytes`. */
export async function fetchDocument(url: string, maxBytes: number, signal: AbortSignal): Promise<FetchedDocument> {
  if (url.startsWith("https:")) trustSystemAuthorities();
  const { status, headers, text, isCut } = await sendRequest({
    url,
    isLocal: false,
    timeoutMs: TIMEOUT_MS,
    signal,
    // GitHub refuses requests without it.
    headers: { "user-agent": "authserve" },
    maxBytes,
  });
  if (status !== 200) throw new Error(`the answer was ${status}, not 200`);
  if (isCut) throw new Error(`exceeds ${maxBytes / 1024 ** 2} MiB`);
  return { text, cacheControl: headers["cache-control"] };
}
