import { connect, type Socket } from "node:net";
import { describeError } from "../../errors.ts";
import { ADDRESS_TIMEOUT_MS } from "../../lib/outgoing.ts";
import { trustSystemAuthorities } from "../../lib/system-authorities.ts";
import { messageId, plainText, type Sender, titleOf } from "../messages.ts";
import type { Message } from "../store.ts";
import { NotifierError } from "./notifier-error.ts";

/** A mail server, and who gets its mail from whom. */
export interface Email {
  kind: "email";
  host: string;
  port: number;
  /** TLS from the first byte. Otherwise it begins with STARTTLS. */
  isTlsFirst: boolean;
  /** The server is on this machine: TLS is not needed, and its certificate is not verified. */
  isLocal: boolean;
  login: { user: string; pass: string } | null;
  from: string;
  to: readonly string[];
}

// Servers may wait before they greet, to see who does not.
const TIMEOUT_MS = 30_000;

/** Sends a mail. Throws {@link NotifierError} unless the server takes it for each recipient. */
export async function sendEmail(email: Email, message: Message, sender: Sender, stop: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
  const { rejected, rejectedErrors } = await submit(email, message, sender, signal).catch((error: unknown) => {
    throw new NotifierError(`not sent (${signal.aborted ? "no response in time" : describeError(error)})`);
  });
  if (rejected.length === 0) return;
  const why = describeError(rejectedErrors?.[0]);
  throw new NotifierError(`${rejected.length} of ${email.to.length} recipients are refused (${why})`, {
    isFinal: true,
  });
}

async function submit(email: Email, message: Message, sender: Sender, signal: AbortSignal) {
  const { host, port, isTlsFirst, isLocal, login, from, to } = email;
  const { createTransport } = await import("./nodemailer.ts");
  if (!isLocal) trustSystemAuthorities();
  const transport = createTransport({
    // Nodemailer would ask name servers itself, and not see the file of hosts.
    getSocket(_: unknown, done: (error: Error | null, socket?: { connection: Socket }) => void) {
      const options = { host, port, signal, autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS };
      const connection = connect(options, () => done(null, { connection })).on("error", done);
    },
    host,
    port,
    secure: isTlsFirst,
    requireTLS: !isTlsFirst && !isLocal,
    tls: { rejectUnauthorized: !isLocal },
    ...(login && { auth: login, forceAuth: true }),
  });
  return transport.sendMail({
    from: { name: "authserve", address: from },
    to: [...to],
    subject: titleOf(message, sender),
    text: plainText(message, sender),
    date: new Date(message.at),
    messageId: `<${messageId(message)}@${from.slice(from.lastIndexOf("@") + 1)}>`,
    // So that nobody's absence answers it (RFC 3834, 5).
    headers: { "auto-submitted": "auto-generated" },
  });
}
