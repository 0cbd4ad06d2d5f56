import { systemCode } from "../errors.ts";

/** Some apps answer with more than the 16 KiB of headers that Node reads by default. */
export const MAX_HEADER_BYTES = 256 * 1024;

/** Whether a request failed because Node does not read what came as the answer. */
export const isUnreadable = (error: Error) => systemCode(error).startsWith("HPE_");

/** The status of an answer whose headers break a rule of HTTP, so that Node does not read it; 0 if there is none. */
export function statusIn(error: Error & { rawPacket?: Buffer }): number {
  if (!isUnreadable(error)) return 0;
  const beginning = error.rawPacket?.toString("latin1", 0, 64) ?? "";
  return Number(/^HTTP\/1\.[01] ([2-5][0-9]{2})\b/.exec(beginning)?.[1] ?? 0);
}
