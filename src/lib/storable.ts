/** A text without U+0000, which PostgreSQL refuses. */
export function storable(value: string): string {
  return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}
