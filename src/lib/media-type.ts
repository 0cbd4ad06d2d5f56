/** Whether a media type, in lower case, is in one of the ranges: `text/*`, or exactly the type. */
export function isInRanges(mediaType: string, ranges: readonly string[]): boolean {
  return ranges.some(
    (range) =>
      range === mediaType || range === "*/*" || (range.endsWith("/*") && mediaType.startsWith(range.slice(0, -1))),
  );
}

/** Whether a media type is JSON, e.g. `application/cloudevents+json`. */
export function isJson(mediaType: string): boolean {
  return mediaType === "application/json" || mediaType.endsWith("+json");
}
