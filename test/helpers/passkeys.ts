import type { CDPSession, Page } from "playwright-core";

/** An authenticator of a Chromium, which needs no person. */
export interface VirtualAuthenticator {
  id: string;
  session: CDPSession;
}

/** Gives the pages of a tab an authenticator that keeps passkeys and verifies its user. */
export async function addAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId: id } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { id, session };
}

/** The passkeys that the authenticator keeps. */
export async function keptBy({ id, session }: VirtualAuthenticator) {
  return (await session.send("WebAuthn.getCredentials", { authenticatorId: id })).credentials;
}

/** Lets the authenticator fail to verify its user, or verify it again. */
export function setVerified({ id, session }: VirtualAuthenticator, isUserVerified: boolean): Promise<unknown> {
  return session.send("WebAuthn.setUserVerified", { authenticatorId: id, isUserVerified });
}
