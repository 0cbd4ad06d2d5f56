import { hash } from "node:crypto";
import { isIP } from "node:net";
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import type { Fault } from "../../errors.ts";
import type { Person } from "../people/people.ts";
import { STEP_MS } from "./steps.ts";
import type { FactorRecord, NewFactor } from "./store.ts";

/** Where passkeys work. */
export interface PasskeySite {
  /** The RP ID: a host, or a domain above it. Passkeys of another one cannot be used. */
  rpId: string;
  /** The one origin whose pages may use them. */
  origin: string;
}

/** What a passkey keeps in {@link FactorRecord.data}. */
interface PasskeyData {
  credentialId: string;
  /** COSE, in base64url. */
  publicKey: string;
  transports: string[];
  rpId: string;
  /** The user handle that the authenticator keeps. */
  userHandle: string;
  /** Whether several devices may have it, as it said when it was added. Older ones lack it. */
  isSynced?: boolean;
}

/**
 * Where passkeys work for a public URL: at its host, or with the RP ID of the settings. Null if browsers allow none
 * there: without TLS, or at an IP address.
 */
export function passkeySiteOf(
  publicUrl: string,
  { PASSKEY_RP_ID, COOKIE_DOMAIN }: { PASSKEY_RP_ID?: string | undefined; COOKIE_DOMAIN?: string | undefined },
): PasskeySite | null {
  const { origin, protocol, hostname } = new URL(publicUrl);
  const isSecure = protocol === "https:" || hostname === "localhost";
  if (!isSecure || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) return null;
  return { rpId: PASSKEY_RP_ID ?? COOKIE_DOMAIN ?? hostname, origin };
}

/**
 * The algorithms of new passkeys (COSE): EdDSA, ES256, RS256. The library's own list has ML-DSA-44 from Node 24.7 on.
 * Such a passkey would not work on an older Node.
 */
const ALGORITHMS = [-8, -7, -257];

/** Of a credential id, in bytes (WebAuthn level 3, 7.1, step 25). */
const MAX_CREDENTIAL_ID = 1023;

const dataOf = ({ data }: Pick<FactorRecord, "data">) => JSON.parse(data) as PasskeyData;

/** The passkeys that work at a site, or those that do not. */
export function passkeysOf<Factor extends Pick<FactorRecord, "kind" | "data">>(
  factors: readonly Factor[],
  site: PasskeySite | null,
): { usable: Factor[]; unusable: Factor[] } {
  const passkeys = factors.filter(({ kind }) => kind === "passkey");
  const isUsable = (factor: Factor) => site !== null && dataOf(factor).rpId === site.rpId;
  return { usable: passkeys.filter(isUsable), unusable: passkeys.filter((factor) => !isUsable(factor)) };
}

/** Why passkeys cannot be used at a site, and what to do. Null if all can. */
export function faultOfPasskeys(
  factors: readonly Pick<FactorRecord, "kind" | "name" | "data">[],
  site: PasskeySite | null,
): Fault | null {
  const { unusable } = passkeysOf(factors, site);
  if (unusable.length === 0) return null;
  const made = unusable.map((factor) => `${factor.name} for ${rpIdOf(factor)}`).join(", ");
  const [now, back] =
    site === null
      ? ["PUBLIC_URL allows no passkeys", "set PUBLIC_URL back"]
      : [`the RP ID is ${site.rpId}`, "set PASSKEY_RP_ID to that address"];
  return {
    found: `passkeys cannot be used: they were made for another address (${made}), and now ${now}`,
    remedy: `${back}, or log in with a code, add new passkeys on /account and remove these with authserve factors remove`,
  };
}

/** The credential id of a passkey. */
export const credentialIdOf = (factor: Pick<FactorRecord, "data">) => dataOf(factor).credentialId;

/** The RP ID of a passkey. */
export const rpIdOf = (factor: Pick<FactorRecord, "data">) => dataOf(factor).rpId;

/**
 * The user handle of a user: it reveals nothing, as WebAuthn asks (level 3, 14.6.1). Servers may share an RP ID. With
 * the same handle, an authenticator would replace the passkey of one by that of the other (level 3, 5.4).
 */
const userHandleOf = (userId: string, { origin }: PasskeySite) =>
  hash("sha256", `authserve user ${userId} at ${origin}`, "base64url");

/** Of a person as authenticators know one: others than that of the environment cannot be guessed. */
export const passkeyUserOf = ({ id, email, mark }: Pick<Person, "id" | "email" | "mark">) => ({
  id: mark === "" ? id : `${id} ${mark}`,
  email,
});

/** What a browser needs for a login with any passkey that it has for the site. */
export function loginOptions({ rpId }: PasskeySite, challenge: string) {
  return { challenge, rpId, timeout: STEP_MS, userVerification: "required" as const, allowCredentials: [] };
}

/** How long a browser has for a passkey without a dialog. One that has no password manager for it may not answer. */
const CONDITIONAL_MS = 5000;

/**
 * What a browser needs for a new passkey. It refuses an authenticator that has one of these already. With
 * `isConditional` it may make one without a dialog, and then it verifies no user (WebAuthn level 3, 5.1.3).
 */
export async function registrationOptions(
  site: PasskeySite,
  challenge: string,
  user: { id: string; email: string },
  existing: readonly Pick<FactorRecord, "data">[],
  isConditional = false,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await import("./simplewebauthn.ts");
  return generateRegistrationOptions({
    rpName: "authserve",
    rpID: site.rpId,
    userName: user.email,
    userID: new Uint8Array(Buffer.from(userHandleOf(user.id, site), "base64url")),
    challenge: new Uint8Array(Buffer.from(challenge, "base64url")),
    timeout: isConditional ? CONDITIONAL_MS : STEP_MS,
    attestationType: "none",
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: existing.map(dataOf).map(({ credentialId: id, transports }) => ({ id, transports })),
    authenticatorSelection: { residentKey: "required", userVerification: isConditional ? "preferred" : "required" },
  });
}

/** The same answer without attestation. */
async function withoutAttestation(answer: RegistrationResponseJSON): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoCBOR } = await import("./simplewebauthn.ts");
  const given = new Uint8Array(Buffer.from(answer.response.attestationObject, "base64url"));
  const authData = decodeAttestationObject(given).get("authData");
  const none = isoCBOR.encode(
    new Map<string, string | Uint8Array | Map<string, never>>([
      ["fmt", "none"],
      ["attStmt", new Map<string, never>()],
      ["authData", authData],
    ]),
  );
  const attestationObject = Buffer.from(none).toString("base64url");
  return { ...answer, response: { ...answer.response, attestationObject } };
}

/**
 * The new passkey in the answer of a browser, as JSON. Or why it is not genuine. With `isConditional` nobody has to be
 * verified or there (WebAuthn level 3, 7.1, step 15): each login with it asks for that.
 */
export async function newPasskey(
  answer: string,
  site: PasskeySite,
  challenge: string,
  userId: string,
  isConditional = false,
): Promise<Pick<NewFactor, "id" | "data" | "counter"> | { fault: string }> {
  const { rpId, origin } = site;
  const { verifyRegistrationResponse } = await import("./simplewebauthn.ts");
  try {
    const response = JSON.parse(answer) as RegistrationResponseJSON;
    if (isFromFrame(response.response.clientDataJSON)) return { fault: IN_FRAME };
    const verify = (response: RegistrationResponseJSON) =>
      verifyRegistrationResponse({
        response,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpId,
        requireUserPresence: !isConditional,
        requireUserVerification: !isConditional,
        supportedAlgorithmIDs: ALGORITHMS,
      });
    // Some browsers attest though they are asked not to. A maker that is not known, or a certificate that has expired,
    // is no reason to refuse the passkey; a wrong signature is.
    const { verified, registrationInfo } = await verify(response).catch(async () =>
      verify(await withoutAttestation(response)),
    );
    if (!verified) return { fault: "its signature is wrong" };
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    if (Buffer.byteLength(id, "base64url") > MAX_CREDENTIAL_ID) return { fault: "its credential id is too long" };
    const data: PasskeyData = {
      credentialId: id,
      publicKey: Buffer.from(publicKey).toString("base64url"),
      transports: transports.filter((transport) => /^[a-z-]{1,20}$/.test(transport)),
      rpId,
      userHandle: userHandleOf(userId, site),
      isSynced: registrationInfo.credentialDeviceType === "multiDevice",
    };
    return { id: idOfCredential(id), data: JSON.stringify(data), counter };
  } catch (error) {
    return { fault: faultText(error) };
  }
}

/** The passkey that signed the answer of a browser. */
interface UsedPasskey {
  factor: FactorRecord;
  counter: number;
  /** Whether several devices may have it, also those of another password manager, which may not count. */
  isSynced: boolean;
}

/** Finds the passkey that signed the answer of a browser, as JSON. Or tells why it is not genuine. */
export async function passkeyIn(
  answer: string,
  factors: readonly FactorRecord[],
  { rpId, origin }: PasskeySite,
  challenge: string,
): Promise<UsedPasskey | { fault: string }> {
  const { usable } = passkeysOf(factors, { rpId, origin });
  const { verifyAuthenticationResponse } = await import("./simplewebauthn.ts");
  try {
    const response = JSON.parse(answer) as AuthenticationResponseJSON;
    const factor = usable.find(({ data }) => dataOf({ data }).credentialId === response.id);
    if (factor === undefined) return { fault: "the passkey is not known" };
    const { credentialId, publicKey, userHandle, isSynced: wasSynced = false } = dataOf(factor);
    // A key of the user, and no other one, has this handle (WebAuthn level 3, 7.2, step 6).
    if (response.response.userHandle !== userHandle) return { fault: "the user handle is another one" };
    if (isFromFrame(response.response.clientDataJSON)) return { fault: IN_FRAME };
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      // The store compares counters, once the signature is known to be genuine.
      credential: { id: credentialId, publicKey: new Uint8Array(Buffer.from(publicKey, "base64url")), counter: 0 },
    });
    if (!verified) return { fault: "its signature is wrong" };
    const { newCounter: counter, credentialDeviceType } = authenticationInfo;
    // A copied key could say so itself.
    return { factor, counter, isSynced: wasSynced && credentialDeviceType === "multiDevice" };
  } catch (error) {
    return { fault: faultText(error) };
  }
}

/** What pages tell the password manager of a browser about the passkeys of a user (WebAuthn level 3, 5.1.10). */
export interface PasskeySignals {
  rpId: string;
  /** The name of the user. */
  name: string;
  /** For each user handle the passkeys that can be used. All others with this handle can go. */
  users: { userId: string; credentialIds: string[] }[];
}

/** Returns what to tell about passkeys. Those that were added under another `PUBLIC_URL` have another user handle. */
export function signalsOf(
  factors: readonly Pick<FactorRecord, "kind" | "data">[],
  site: PasskeySite,
  user: { id: string; email: string },
): PasskeySignals {
  const usable = passkeysOf(factors, site).usable.map(dataOf);
  const handles = new Set([userHandleOf(user.id, site), ...usable.map(({ userHandle }) => userHandle)]);
  const users = Array.from(handles, (userId) => ({
    userId,
    credentialIds: usable.flatMap(({ userHandle, credentialId }) => (userHandle === userId ? [credentialId] : [])),
  }));
  return { rpId: site.rpId, name: user.email, users };
}

/** Whether a credential id is that of a passkey that can be used. */
export const isAccepted = (id: string, { users }: PasskeySignals) =>
  users.some(({ credentialIds }) => credentialIds.includes(id));

/**
 * The credential id in a refused answer, if the passkey was one of this user here, and is none any more. Servers may
 * share an RP ID: a passkey with another user handle may be known to another one.
 */
export function removedPasskeyIn(answer: string, signals: PasskeySignals): string | null {
  try {
    const { id, response } = JSON.parse(answer) as AuthenticationResponseJSON;
    const isOwn = signals.users.some(({ userId }) => userId === response.userHandle);
    return isOwn && /^[A-Za-z0-9_-]+$/.test(id) && !isAccepted(id, signals) ? id : null;
  } catch {
    return null;
  }
}

/** The id of the factor that the answer of a browser names. Null if it is not usable. */
export function factorIdIn(answer: string): string | null {
  try {
    const { id } = JSON.parse(answer) as AuthenticationResponseJSON;
    return typeof id === "string" ? idOfCredential(id) : null;
  } catch {
    return null;
  }
}

/** The id of the factor of a credential: the same for the same one. */
const idOfCredential = (credentialId: string) => hash("sha256", credentialId).slice(0, 16);

/** Whether a page of another site had the frame in which it was made (WebAuthn level 3, 7.1 and 7.2). */
function isFromFrame(clientDataJson: string): boolean {
  const data = JSON.parse(Buffer.from(clientDataJson, "base64url").toString("utf8")) as Record<string, unknown>;
  return data.crossOrigin === true || data.topOrigin !== undefined;
}

const IN_FRAME = "it was made in a frame of another site";

const MAX_FAULT = 200;

/** What the library found. It names values of the client, so it is cut. */
const faultText = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, MAX_FAULT);
