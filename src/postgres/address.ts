import type { Fault } from "../errors.ts";

/** A server of PostgreSQL. A host that begins with `/` is the folder of its socket. */
export interface PostgresHost {
  host: string;
  port: number;
}

/** How connections are encrypted. `verified` checks the certificate; `encrypted` does not. */
type TlsMode = "off" | "encrypted" | "verified";

/** What a `DATABASE_URL` names. */
export interface DatabaseAddress {
  /** Several are tried in turn until one accepts writes. */
  hosts: PostgresHost[];
  user: string;
  password: string | undefined;
  database: string;
  tls: TlsMode;
  /**
   * PEM file of the authority that signed the servers' certificate. Undefined: the authorities of Node and of the
   * system.
   */
  caFile: string | undefined;
}

const DEFAULT_PORT = 5432;

const TLS_MODES: Record<string, TlsMode> = {
  disable: "off",
  "no-verify": "encrypted",
  require: "verified",
  "verify-ca": "verified",
  "verify-full": "verified",
};

const FORM =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^/?#]*)(?:\/(?<database>[^?#]*))?(?:\?(?<parameters>[^#]*))?$/;

/**
 * Parses a URL `postgres://user:password@host1:port,host2/database?sslmode=…&sslrootcert=…&host=/socket/folder`. The
 * driver's own parser knows one host only. Returns the fault if it is none; it never has a part of the URL, which holds
 * a password.
 */
export function parseDatabaseUrl(url: string): DatabaseAddress | Fault {
  const parts = FORM.exec(url)?.groups;
  if (!parts || /\s/.test(url))
    return fault(
      "is no PostgreSQL URL",
      "expected postgres://user:password@host:5432/database, with special characters percent-encoded",
    );
  try {
    return addressOf(parts);
  } catch (error) {
    if (error instanceof URIError)
      return fault("has a percent sign that encodes nothing", "write % in a password as %25");
    throw error;
  }
}

function addressOf(parts: Record<string, string | undefined>): DatabaseAddress | Fault {
  const parameters = new URLSearchParams(parts.parameters);
  for (const name of parameters.keys()) {
    if (!["sslmode", "sslrootcert", "host"].includes(name))
      return fault("has an unknown parameter", "keep sslmode, sslrootcert and host");
    if (parameters.getAll(name).length > 1) return fault("has a parameter twice", "keep one of them");
  }
  const mode = parameters.get("sslmode") ?? "disable";
  const tls = TLS_MODES[mode];
  if (tls === undefined) return fault("has an unknown sslmode", `use one of ${Object.keys(TLS_MODES).join(", ")}`);
  const caFile = parameters.get("sslrootcert") ?? undefined;
  if (caFile !== undefined && tls !== "verified")
    return fault("has sslrootcert without a verified connection", "add sslmode=verify-full");
  const hosts = (parameters.get("host") ?? parts.hosts ?? "").split(",").map(hostOf);
  const known = hosts.filter((host) => host !== null);
  if (known.length < hosts.length)
    return fault(
      "has a malformed host",
      "expected host, host:port or [IPv6]:port, separated by commas; write @ in a password as %40",
    );
  const user = decodeURIComponent(parts.user ?? "");
  if (user === "") return fault("names no user", "write postgres://user:password@host/database");
  const database = decodeURIComponent(parts.database ?? "") || user;
  const password = parts.password === undefined ? undefined : decodeURIComponent(parts.password);
  // In the protocol it ends a text.
  if ([user, password, database].some((text) => text?.includes("\0"))) return fault("has a zero byte", "remove %00");
  return { hosts: known, user, password, database, tls, caFile };
}

function hostOf(text: string): PostgresHost | null {
  const [, address, port] =
    /^(\[[0-9A-Fa-f:.]+\]|\/[^:]*|[^:[\]/\s@]+)(?::([0-9]{1,5}))?$/.exec(decodeURIComponent(text)) ?? [];
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (address === undefined || number < 1 || number > 65_535) return null;
  return { host: address.replace(/^\[|\]$/g, ""), port: number };
}

function fault(found: string, remedy: string): Fault {
  return { found, remedy };
}

/** Whether parsing found a fault. */
export function isFault(parsed: DatabaseAddress | Fault): parsed is Fault {
  return "remedy" in parsed;
}
