const NAME = "authserve.utc";

/** Whether times are shown in UTC, and not in the browser's zone. */
export const isUtc = localStorage.getItem(NAME) === "1";

/** Shows times in the other zone from now on. */
export function switchZone(): void {
  if (isUtc) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, "1");
  location.reload();
}
