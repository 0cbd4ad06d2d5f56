import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import type { Cleanup } from "../temp-dir.ts";
import type { Pair } from "../tls.ts";

interface SmtpOptions {
  /** Offers STARTTLS with this pair. */
  pair?: Pair;
  /** TLS from the first byte. */
  isTlsFirst?: boolean;
  /** Takes mail of this user only. */
  login?: { user: string; pass: string };
  /** The way of a user to log in. */
  mechanism?: "PLAIN" | "LOGIN";
  /** Recipients that are refused. */
  unknown?: readonly string[];
  /** Says nothing to this command, or instead of its greeting. */
  silentAt?: string;
}

export interface TakenMail {
  from: string;
  to: string[];
  user: string | null;
  isTls: boolean;
  /** The header, without folding. */
  header: string[];
  /** The body as it was sent, without the escape of dots. */
  body: string;
}

export interface SmtpServer {
  port: number;
  mails: TakenMail[];
  /** The first word of each command, of all connections. */
  commands: string[];
  /** The connections that are open. */
  connections(): number;
  close(): Promise<void>;
}

/** The answer of a server that refuses what does not follow the protocol. */
const WRONG = "500 5.5.2 syntax error";

/**
 * Starts a mail server (RFC 5321, with STARTTLS of RFC 3207 and AUTH of RFC 4954), which ends with the test. It refuses
 * commands out of order, other line ends than CRLF, and long lines.
 */
export async function startSmtpServer(t: Cleanup, options: SmtpOptions = {}): Promise<SmtpServer> {
  const mails: TakenMail[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    serve(options.isTlsFirst ? upgraded(socket, options) : socket, options, mails, commands);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  t.after(close);
  return { port, mails, commands, connections: () => sockets.size, close };
}

function upgraded(socket: Socket, { pair }: SmtpOptions): Socket {
  if (pair === undefined) throw new Error("TLS needs a pair");
  const secureContext = createSecureContext({ cert: readFileSync(pair.cert), key: readFileSync(pair.key) });
  return new TLSSocket(socket, { isServer: true, secureContext }).on("error", () => {});
}

/** Serves a connection. After STARTTLS it begins again. */
function serve(socket: Socket, options: SmtpOptions, mails: TakenMail[], commands: string[], isUpgraded = false) {
  const isTls = socket instanceof TLSSocket;
  const say = (...lines: string[]) => socket.write(lines.map((line) => `${line}\r\n`).join(""));
  let isGreeted = false;
  let user: string | null = null;
  let mail: { from: string; to: string[] } | null = null;
  /** What takes the next line, or the data of a mail, instead of a command. */
  let next: ((line: string) => void) | null = null;
  let isData = false;

  const logIn = (given: string, pass: string) => {
    if (given !== options.login?.user || pass !== options.login.pass)
      return say("535 5.7.8 authentication credentials invalid");
    user = given;
    return say("235 2.7.0 authentication succeeded");
  };
  const decoded = (base64: string) => Buffer.from(base64, "base64").toString();

  function logInBy(mechanism: string, initial: string | undefined) {
    if (!isGreeted || mechanism !== (options.mechanism ?? "PLAIN")) return say("504 5.5.4 unrecognized mechanism");
    if (mechanism === "PLAIN") {
      const [, given = "", pass = ""] = decoded(initial ?? "").split("\0");
      return logIn(given, pass);
    }
    say("334 VXNlcm5hbWU6");
    next = (given) => {
      say("334 UGFzc3dvcmQ6");
      next = (pass) => void logIn(decoded(given), decoded(pass));
    };
  }

  const verbs: Record<string, (line: string) => unknown> = {
    EHLO(line) {
      isGreeted = /^EHLO \S+$/.test(line);
      if (!isGreeted) return say(WRONG);
      const texts = ["mail.test"];
      if (options.pair && !isTls) texts.push("STARTTLS");
      if (options.login) texts.push(`AUTH ${options.mechanism ?? "PLAIN"}`);
      return say(...texts.map((text, n) => `250${n === texts.length - 1 ? " " : "-"}${text}`));
    },
    STARTTLS(line) {
      if (!options.pair || isTls || line !== "STARTTLS") return say(WRONG);
      say("220 2.0.0 ready");
      socket.removeAllListeners("data");
      return serve(upgraded(socket, options), options, mails, commands, true);
    },
    AUTH(line) {
      const [, mechanism = "", initial] = line.split(" ");
      return logInBy(mechanism, initial);
    },
    MAIL(line) {
      const [, from] = /^MAIL FROM:<([^<>\s]+@[^<>\s]+)>$/.exec(line) ?? [];
      if (from === undefined || !isGreeted || mail) return say(WRONG);
      if (options.login && user === null) return say("530 5.7.0 authentication required");
      mail = { from, to: [] };
      return say("250 2.1.0 ok");
    },
    RCPT(line) {
      const [, to] = /^RCPT TO:<([^<>\s]+@[^<>\s]+)>$/.exec(line) ?? [];
      if (to === undefined || !mail) return say(WRONG);
      if (options.unknown?.includes(to)) return say("550 5.1.1 no such user");
      mail.to.push(to);
      return say("250 2.1.5 ok");
    },
    DATA() {
      if (!mail || mail.to.length === 0) return say("503 5.5.1 no valid recipients");
      isData = true;
      return say("354 end with a dot");
    },
    QUIT() {
      say("221 2.0.0 bye");
      return socket.end();
    },
  };

  function command(line: string) {
    const [verb = ""] = line.split(" ");
    commands.push(verb);
    if (verb === options.silentAt) return;
    return Object.hasOwn(verbs, verb) ? verbs[verb]?.(line) : say(WRONG);
  }

  function take(data: string) {
    const lines = data.split("\r\n");
    if (lines.some((line) => /[\r\n]/.test(line) || line.length > 998)) return say("554 5.6.0 wrong line");
    if (!mail) return say(WRONG);
    const text = lines.map((line) => line.replace(/^\./, "")).join("\r\n");
    const [head = "", ...rest] = text.split("\r\n\r\n");
    const header = head.replace(/\r\n(?=[ \t])/g, "").split("\r\n");
    mails.push({ ...mail, user, isTls, header, body: rest.join("\r\n\r\n") });
    mail = null;
    return say("250 2.0.0 queued");
  }

  let received = "";
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    for (;;) {
      const end = received.indexOf(isData ? "\r\n.\r\n" : "\r\n");
      if (end === -1) return;
      const unit = received.slice(0, end);
      received = received.slice(end + (isData ? 5 : 2));
      const taker = next;
      next = null;
      if (isData) {
        isData = false;
        take(unit);
      } else if (taker) taker(unit);
      else command(unit);
    }
  });
  if (!isUpgraded && options.silentAt !== "greeting") say("220 mail.test ESMTP");
}
