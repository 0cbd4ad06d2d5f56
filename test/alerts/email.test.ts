import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, type TestContext, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Email } from "../../src/alerts/notifiers/email.ts";
import { createNotify, type Notifier } from "../../src/alerts/notifiers.ts";
import { alertRecord } from "../contract/alert-store.ts";
import { firing, message, mockTimeout, NEVER, NOW, notify, over, refusalBy, SENDER } from "../helpers/notifier.ts";
import { type SmtpServer, startSmtpServer, type TakenMail } from "../helpers/stand-ins/smtp-server.ts";
import { pairNamed } from "../helpers/tls.ts";
import { until } from "../helpers/until.ts";

const LOGIN = { user: "authserve", pass: "hunter2" };
const PAIR = pairNamed("first");

const mailBy = ({ port }: { port: number }, changes: Partial<Email> = {}): Notifier => ({
  kind: "email",
  name: "mail",
  host: "127.0.0.1",
  port,
  isTlsFirst: false,
  isLocal: true,
  login: null,
  from: "alerts@auth.example",
  to: ["ada@mail.test"],
  ...changes,
});

/** The one mail that a server took. */
function mailAt({ mails: [mail, ...others] }: SmtpServer): TakenMail {
  assert.ok(mail);
  assert.deepEqual(others, []);
  return mail;
}

/** The value of a line of a header, which is there once. */
function fieldOf({ header }: TakenMail, name: string): string {
  const lines = header.filter((line) => line.toLowerCase().startsWith(`${name}: `));
  assert.equal(lines.length, 1, `${name} is there ${lines.length} times`);
  return lines[0]?.slice(name.length + 2) ?? "";
}

/** The text of a mail, decoded. */
function textOf(mail: TakenMail): string {
  assert.match(fieldOf(mail, "content-type"), /^text\/plain; charset=utf-8/);
  const encoding = fieldOf(mail, "content-transfer-encoding");
  if (encoding === "base64") return Buffer.from(mail.body, "base64").toString();
  if (encoding !== "quoted-printable") return mail.body;
  const bytes = mail.body
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}

/** Trusts the certificate of {@link PAIR}, as a system does that knows its authority. */
function trustPair(t: TestContext): void {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, readFileSync(PAIR.cert, "utf8")]);
  t.after(() => setDefaultCACertificates(before));
}

suite("a mail", () => {
  test("has the title as its subject, and the alerts with their links as plain text", async (t) => {
    const server = await startSmtpServer(t);
    await notify(mailBy(server, { to: ["ada@mail.test", "bob@mail.test"] }), message(firing, over), NEVER);
    const mail = mailAt(server);
    assert.deepEqual([mail.from, mail.to], ["alerts@auth.example", ["ada@mail.test", "bob@mail.test"]]);
    assert.deepEqual(
      ["from", "to", "subject", "date", "auto-submitted"].map((name) => fieldOf(mail, name)),
      [
        "authserve <alerts@auth.example>",
        "ada@mail.test, bob@mail.test",
        "authserve web-1: 1 firing, 1 resolved",
        new Date(NOW).toUTCString().replace("GMT", "+0000"),
        "auto-generated",
      ],
    );
    assert.equal(
      textOf(mail).trimEnd().replaceAll("\r\n", "\n"),
      [
        "warning: A sender is silent. Now: the source stripe has received nothing for 2 h. To do: check the webhook at the sender",
        "https://auth.example/admin/#/sources",
        "",
        "resolved: A sender is silent. It was: it was silent",
        "https://auth.example/admin/#/sources",
      ].join("\n"),
    );
  });

  test("has the same id at every try, and another one for another message", async (t) => {
    const server = await startSmtpServer(t);
    for (const sent of [message(firing), message(firing), message(over)]) await notify(mailBy(server), sent, NEVER);
    const [first, second, other] = server.mails.map((mail) => fieldOf(mail, "message-id"));
    assert.match(String(first), /^<alert_[0-9a-f_]+@auth\.example>$/);
    assert.equal(second, first);
    assert.notEqual(other, first);
  });

  test("gets no line of its header, and no end, from what alerts say", async (t) => {
    const server = await startSmtpServer(t);
    const strange = createNotify({ ...SENDER, instance: "a\r\nBcc: eve@mail.test" }, () => ({}));
    const summary = "a\r\n.\r\nMAIL FROM:<eve@mail.test>\r\n..b ü 日本";
    await strange(mailBy(server), message(alertRecord({ summary, resolvedAt: 1 })), NEVER);
    const mail = mailAt(server);
    assert.deepEqual(
      mail.header.filter((line) => /^bcc:/i.test(line)),
      [],
    );
    assert.deepEqual(mail.to, ["ada@mail.test"]);
    assert.ok(textOf(mail).includes(summary), textOf(mail));
  });
});

suite("a mail server", () => {
  for (const mechanism of ["PLAIN", "LOGIN"] as const) {
    test(`gets the user and password by ${mechanism}, after STARTTLS`, async (t) => {
      trustPair(t);
      const server = await startSmtpServer(t, { pair: PAIR, login: LOGIN, mechanism });
      await notify(mailBy(server, { host: "localhost", isLocal: false, login: LOGIN }), message(firing), NEVER);
      const { isTls, user } = mailAt(server);
      assert.deepEqual([isTls, user], [true, "authserve"]);
      assert.deepEqual(server.commands.slice(0, 4), ["EHLO", "STARTTLS", "EHLO", "AUTH"]);
      await until(() => server.connections() === 0);
    });
  }

  test("may have TLS from the first byte", async (t) => {
    trustPair(t);
    const server = await startSmtpServer(t, { pair: PAIR, isTlsFirst: true, login: LOGIN });
    const changes = { host: "localhost", isTlsFirst: true, isLocal: false, login: LOGIN };
    await notify(mailBy(server, changes), message(firing), NEVER);
    assert.equal(mailAt(server).isTls, true);
    assert.deepEqual(server.commands.slice(0, 2), ["EHLO", "AUTH"]);
  });

  test("of this machine may have a certificate that nobody trusts", async (t) => {
    const server = await startSmtpServer(t, { pair: PAIR, login: LOGIN });
    await notify(mailBy(server, { login: LOGIN }), message(firing), NEVER);
    assert.equal(mailAt(server).isTls, true);
  });

  test("gets neither a password nor a mail if it is another machine without TLS", async (t) => {
    const server = await startSmtpServer(t, { login: LOGIN });
    const refusal = await refusalBy(mailBy(server, { isLocal: false, login: LOGIN }));
    assert.match(refusal.message, /^not sent \(.*STARTTLS/);
    assert.deepEqual(server.mails, []);
    assert.equal(server.commands.includes("AUTH"), false);
  });

  test("gets neither if its certificate is not trusted", async (t) => {
    const server = await startSmtpServer(t, { pair: pairNamed("second"), login: LOGIN });
    const refusal = await refusalBy(mailBy(server, { isLocal: false, login: LOGIN }));
    assert.match(refusal.message, /^not sent \(.*self-signed certificate/);
    assert.deepEqual(server.commands, ["EHLO", "STARTTLS"]);
  });

  for (const [what, options, changes, error] of [
    ["a password", { login: LOGIN }, { login: { user: "authserve", pass: "hunter2!" } }, /EAUTH: .*535 5\.7\.8/],
    ["a mail without a password", { login: LOGIN }, {}, /530 5\.7\.0 authentication required/],
    ["the recipient", { unknown: ["ada@mail.test"] }, {}, /550 5\.1\.1 no such user/],
  ] as const) {
    test(`that refuses ${what} says why, and is asked again`, async (t) => {
      const server = await startSmtpServer(t, options);
      const refusal = await refusalBy(mailBy(server, changes));
      assert.match(refusal.message, /^not sent \(/);
      assert.match(refusal.message, error);
      assert.equal(refusal.isFinal, false);
      await until(() => server.connections() === 0);
    });
  }

  test("that takes no password gets no mail without it", async (t) => {
    const server = await startSmtpServer(t);
    await refusalBy(mailBy(server, { login: LOGIN }));
    assert.deepEqual(server.mails, []);
  });

  test("that refuses one of two recipients is not asked again: the other has the mail", async (t) => {
    const server = await startSmtpServer(t, { unknown: ["bob@mail.test"] });
    const refusal = await refusalBy(mailBy(server, { to: ["ada@mail.test", "bob@mail.test"] }));
    assert.match(refusal.message, /^1 of 2 recipients are refused \(.*550 5\.1\.1 no such user/);
    assert.equal(refusal.isFinal, true);
    assert.deepEqual(mailAt(server).to, ["ada@mail.test"]);
  });

  test("that nobody runs is named with its address", async (t) => {
    const server = await startSmtpServer(t);
    await server.close();
    const { message: text } = await refusalBy(mailBy(server));
    assert.equal(text, `not sent (ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:${server.port})`);
  });

  for (const [silentAt, isTlsFirst] of [
    ["greeting", false],
    ["greeting", true],
    ["STARTTLS", false],
    ["AUTH", false],
    ["DATA", false],
  ] as const) {
    for (const reason of ["for too long", "at a stop"]) {
      test(`that is silent ${reason} is left: at ${isTlsFirst ? "the handshake of TLS" : silentAt}`, async (t) => {
        const { end, limitsMs } = mockTimeout(t);
        const stopping = new AbortController();
        const server = await startSmtpServer(t, { pair: PAIR, login: LOGIN, silentAt });
        const refused = refusalBy(mailBy(server, { login: LOGIN, isTlsFirst }), stopping.signal);
        await until(() => (silentAt === "greeting" ? server.connections() : server.commands.includes(silentAt)));
        assert.deepEqual(limitsMs, [30_000]);
        if (reason === "at a stop") stopping.abort();
        else end();
        assert.equal((await refused).message, "not sent (no response in time)");
        await until(() => server.connections() === 0);
      });
    }
  }
});
