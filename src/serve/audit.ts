import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import packageJson from "../../package.json" with { type: "json" };
import type { WriteAudit } from "../audit/store.ts";
import type { PersonEntry } from "../auth/people/people.ts";
import type { ConfigFile } from "../config/file/config-file.ts";
import { describeError } from "../errors.ts";
import { markOf } from "../webhook/signature/secret.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

/** Writes changes to the audit, and each row with its hash to the log, which the database cannot change. */
export function createAudit({ stores, log }: Pick<Wiring, "stores" | "log">): WriteAudit {
  const { audit, now } = stores;
  return async ({ detail, ...change }) => {
    const { number, who, action, hash } = await audit.append({
      ...change,
      at: now(),
      detail: JSON.stringify(detail),
    });
    log.info({ event: "audited", number, who, action, hash }, "a change was written to the audit");
    return number;
  };
}

/** Writes which configuration file the server takes, at its start and at each reload. A failure is logged. */
export function auditConfiguration(wiring: Wiring): Part {
  const { file, log } = wiring;
  const { DEMO_EMAIL: email, DEMO_PASSWORD: password } = wiring.settings;
  // Shows that another password is used, however it was changed.
  const credential = markOf(`${password.encoded} ${email}`);
  const write = createAudit(wiring);

  async function note(how: "start" | "reload", config: ConfigFile | null): Promise<void> {
    const detail = {
      how,
      host: hostname(),
      version: packageJson.version,
      file,
      sha256: config && digestOf(file),
      credential,
      ...(config?.people && { people: Object.fromEntries(config.people.map(credentialOf)) }),
    };
    try {
      await write({ who: "server", origin: "machine", action: "config.take", detail });
    } catch (error) {
      log.error({ event: "audit_failed", error: describeError(error) }, "the audit could not be written");
    }
  }

  return {
    start: () => void note("start", wiring.config.current),
    apply: (config) => void note("reload", config),
    stop() {},
  };
}

/** The name of a person, and what shows that another password is used. */
const credentialOf = ({ name, email, passwordHash }: PersonEntry) =>
  [name, markOf(`${passwordHash?.encoded ?? ""} ${email}`)] as const;

/** Null if the file has gone since. */
function digestOf(file: string): string | null {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return null;
  }
}
