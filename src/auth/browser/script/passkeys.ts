import { browserSupportsWebAuthn, startAuthentication, startRegistration } from "@simplewebauthn/browser";

// Runs on pages that have to do with passkeys. It asks for options, lets the browser use or make a passkey, and sends
// the form with the answer. It tells the password manager which passkeys there are.

/** Whether the person has cancelled, or has taken too long. */
const isCancelled = (error: unknown) => error instanceof Error && /^(?:NotAllowed|Abort)Error$/.test(error.name);

async function optionsAt(url: string) {
  const response = await fetch(url, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

async function answerOf({ dataset }: HTMLFormElement): Promise<object> {
  const { kind, options = "", offer } = dataset;
  if (kind !== "new") return startAuthentication({ optionsJSON: await optionsAt(options) });
  const made = offer === undefined ? null : await withoutDialog(`${options}?conditional=1`).catch(() => null);
  // The second try has a dialog at once.
  delete dataset.offer;
  return made ?? startRegistration({ optionsJSON: await optionsAt(options) });
}

/** Makes a passkey in the password manager that has just filled in the password. Null if the browser cannot. */
async function withoutDialog(options: string): Promise<object | null> {
  const { conditionalCreate } = (await PublicKeyCredential.getClientCapabilities?.()) ?? {};
  if (!conditionalCreate) return null;
  return startRegistration({ optionsJSON: await optionsAt(options), useAutoRegister: true });
}

function fieldOf(form: HTMLFormElement, name: string): HTMLInputElement | null {
  const field = form.elements.namedItem(name);
  return field instanceof HTMLInputElement ? field : null;
}

function setUp(form: HTMLFormElement): void {
  const answer = fieldOf(form, "answer");
  const message = form.querySelector<HTMLElement>("[role=alert]");
  const button = form.querySelector("button");
  if (answer === null || message === null || button === null) return;

  async function fill(answer: HTMLInputElement): Promise<void> {
    answer.value = JSON.stringify(await answerOf(form));
    // The part of the target after `#` is known in the other form only.
    const [rd, own] = [document.forms[0] && fieldOf(document.forms[0], "rd"), fieldOf(form, "rd")];
    if (rd && own) own.value = rd.value;
    const [asked, kept] = [
      document.querySelector<HTMLInputElement>("input[name=keep][type=checkbox]"),
      fieldOf(form, "keep"),
    ];
    if (asked && kept) kept.value = asked.checked ? "1" : "";
    form.submit();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    button.disabled = true;
    message.hidden = true;
    fill(answer).catch((error: unknown) => {
      const { cancelled = "", known = "", failed = "" } = form.dataset;
      const isKnown = error instanceof Error && error.name === "InvalidStateError";
      message.textContent = isCancelled(error) ? cancelled : isKnown ? known : failed;
      message.hidden = false;
      button.disabled = false;
    });
  });
  form.querySelector("[type=button]")?.addEventListener("click", () => {
    form.hidden = true;
    localStorage.setItem(OFFERED, "no");
  });
  // Only the browser knows which address it shows: a proxy may hide it from the server.
  form.hidden = form.dataset.origin !== location.origin || !mayOffer(form.dataset.offer);
}

const OFFERED = "authserve-passkey-offered";

/** Whether to offer a passkey: after one login in each browser, until it is answered. */
function mayOffer(login: string | undefined): boolean {
  if (login === undefined) return true;
  try {
    if (localStorage.getItem(OFFERED) === null) localStorage.setItem(OFFERED, login);
    return localStorage.getItem(OFFERED) === login;
  } catch {
    // A browser that keeps nothing would be asked each time.
    return false;
  }
}

/** What a page knows about the passkeys of its user, or about one that was refused. */
type Signals = { rpId: string } & (
  | { name: string; users: { userId: string; credentialIds: string[] }[] }
  | { unknown: string }
);

const REMOVED = "authserve-passkey-removed";

/** Tells the password manager. It makes use of that later, or never. */
async function signal(data: Signals): Promise<void> {
  const { rpId } = data;
  const forget = (credentialId: string) => PublicKeyCredential.signalUnknownCredential?.({ rpId, credentialId });
  if ("unknown" in data) return forget(data.unknown);
  for (const { userId, credentialIds: allAcceptedCredentialIds } of data.users) {
    await PublicKeyCredential.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds });
    await PublicKeyCredential.signalCurrentUserDetails?.({ rpId, userId, name: data.name, displayName: "" });
  }
  const removed = sessionStorage.getItem(REMOVED);
  sessionStorage.removeItem(REMOVED);
  // The removal may have been refused.
  if (removed && !data.users.some(({ credentialIds }) => credentialIds.includes(removed))) await forget(removed);
}

if (browserSupportsWebAuthn()) {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-kind]")) setUp(form);
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-removes]"))
    form.addEventListener("submit", () => sessionStorage.setItem(REMOVED, form.dataset.removes ?? ""));
  const data = document.querySelector<HTMLElement>("[data-signals]")?.dataset.signals;
  if (data !== undefined) signal(JSON.parse(data)).catch(() => {});
}
