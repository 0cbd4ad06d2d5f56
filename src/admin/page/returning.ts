const NAME = "authserve.place";

/** Remembers the place over a login: its redirect has no hash. */
export function keepPlace(): void {
  sessionStorage.setItem(NAME, location.hash);
}

/** Goes to the remembered place, once. */
export function returnToPlace(): void {
  const hash = sessionStorage.getItem(NAME);
  sessionStorage.removeItem(NAME);
  if (hash && location.hash === "") history.replaceState(null, "", hash);
}
