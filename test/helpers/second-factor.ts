import assert from "node:assert/strict";
import type { Server } from "./server.ts";

/** An authenticator app that was added by the command, and the recovery codes. */
interface AddedTotp {
  id: string;
  secret: string;
  codes: string[];
}

/** Adds an authenticator app by the command. */
export async function addTotp(server: Pick<Server, "run">, ...options: string[]): Promise<AddedTotp> {
  const { code, stdout, stderr } = await server.run(["factors", "add-totp", "--unconfirmed", "--json", ...options]);
  assert.equal(code, 0, stderr);
  const { id, uri, recoveryCodes } = JSON.parse(stdout) as { id: string; uri: string; recoveryCodes: string[] | null };
  return { id, secret: new URL(uri).searchParams.get("secret") ?? "", codes: recoveryCodes ?? [] };
}
