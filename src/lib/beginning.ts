/** How much of a target's response, or of a program's output, is stored with the attempt. */
export const MAX_RESPONSE_BYTES = 1024;

/** Decodes the beginning of a response or output. Undefined if it is empty. */
export function decodeBeginning(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return undefined;
  // With `stream`, the bytes of a character that was cut are left out.
  return new TextDecoder().decode(bytes.subarray(0, MAX_RESPONSE_BYTES), { stream: true });
}
