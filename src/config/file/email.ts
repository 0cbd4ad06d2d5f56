import { isIP } from "node:net";
import * as v from "valibot";
import type { Email } from "../../alerts/notifiers/email.ts";
import { isEmail } from "../../auth/user.ts";
import { isLoopback } from "../../http/listen.ts";
import { integer } from "../fields.ts";
import { key, keyOr, listOf, numberOrText, TEXT } from "./fields.ts";
import { SECRET } from "./secrets.ts";
import { map } from "./shape.ts";

// RFC 8314, 3.3.
const TLS_PORT = 465;

const HOST_EXPECTATION = "expected the name or address of a mail server, e.g. smtp.example.com";

const host = v.pipe(
  v.string(HOST_EXPECTATION),
  v.check((value) => isIP(value) !== 0 || /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(value), HOST_EXPECTATION),
);

const ADDRESS_EXPECTATION = "expected an e-mail address, e.g. me@example.com";

const address = v.pipe(v.string(ADDRESS_EXPECTATION), v.check(isEmail, ADDRESS_EXPECTATION));

/** A mail server, with the sender and the recipients. */
export const EmailSchema = map(
  {
    host: v.pipe(host, v.description("The mail server. It needs TLS, unless it is this machine.")),
    port: keyOr(
      numberOrText(integer(1, 65_535)),
      587,
      "`465` has TLS from the first byte. On other ports TLS begins with STARTTLS.",
    ),
    user: key(TEXT, "The user at the mail server."),
    password: key(SECRET, "The password of `user`: `env:NAME` or `file:PATH`."),
    from: v.pipe(address, v.description("The address of the sender.")),
    to: v.pipe(
      v.union([address, listOf(address, "address")], "expected an e-mail address or a list of them"),
      v.description("The recipient, or a list of them."),
      v.transform((to): readonly string[] => (typeof to === "string" ? [to] : to)),
    ),
  },
  "expected a map such as { host: smtp.example.com, from: authserve@example.com, to: me@example.com }",
  {
    check(entry, reading) {
      for (const [name, other] of [
        ["user", "password"],
        ["password", "user"],
      ] as const)
        if (name in entry && !(other in entry)) reading.at(name).fault(`found without ${other}, expected both`, "key");
    },
    read: ({ host, port, user, password, from, to }): Omit<Email, "kind"> => ({
      host,
      port,
      isTlsFirst: port === TLS_PORT,
      isLocal: isLoopback(host),
      login: user === undefined || password === undefined ? null : { user, pass: password.value },
      from,
      to,
    }),
  },
);
