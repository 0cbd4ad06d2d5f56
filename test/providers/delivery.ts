import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mock } from "node:test";

/** What a provider sends. Headers in lower case. */
export interface Delivery {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

/** A delivery that a provider's own package signed, or one that it accepted. Its body is base64. */
export interface Vector extends Delivery {
  preset: string;
  /** `package@version` */
  by: string;
  how: "signed" | "checked";
  /** What the source has: secrets of its own, or public keys of the provider, and what its preset needs besides. */
  secret?: string;
  keys?: readonly string[];
  options?: Record<string, string>;
  /** When the signature is fresh, in Unix milliseconds. */
  at: number;
}

/** What a package exports: any, since types are there only once the packages are installed. */
export type Package = Awaited<ReturnType<typeof load>>;

export interface Provider {
  preset: string;
  /** Which of the schemes of the preset, if it has several. */
  variant?: string;
  package: string;
  /** Where the provider's own documentation or example names the package, if it is not the provider's own. */
  prescribedBy?: string;
  /** What is imported, when not the package's main module. */
  module?: string;
  /** Whether the package signs, or the recipe does and the package only checks. */
  how: Vector["how"];
  secret?: string;
  /** Public keys as the configuration takes them. Their private keys are in `keys`. */
  keys?: readonly string[];
  options?: Record<string, string>;
  /**
   * Makes a delivery to an address at a time, which the clock shows as well. `secret` is the secret or the first public
   * key.
   */
  send(lib: Package, secret: string, at: number, url: string): Partial<Delivery> | Promise<Partial<Delivery>>;
  /** Whether the package's own check lets a delivery pass. It may throw instead of answering false. */
  accepts(lib: Package, delivery: Delivery, secret: string): unknown;
  /** Changes something that the signature covers; the amount in the body unless given. */
  alter?(delivery: Delivery): Delivery;
}

const HERE = import.meta.dirname;
const { dependencies } = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
};

export const isInstalled = () =>
  Object.keys(dependencies).every((name) => existsSync(join(HERE, "node_modules", name)));

const load = (specifier: string) => import(specifier);

const URL_OF_RECEIVER = "https://hooks.example.com/webhooks/provider?tenant=7&note=a%20b";

export const FORM = "application/x-www-form-urlencoded";

/** An event with characters beyond ASCII, which a signature covers as UTF-8. */
export const EVENT = JSON.stringify({
  id: "evt_5Hq2",
  type: "order.paid",
  data: { amount: 4200, currency: "EUR", buyer: "Zoë Ångström", note: "日本 – 🙂 </script>" },
});

const AMOUNT = /4200/;

const alterAmount = (delivery: Delivery): Delivery => ({ ...delivery, body: delivery.body.replace(AMOUNT, "4201") });

type Encoding = "hex" | "base64" | "base64url";

function hmac(algorithm: string, key: string | Uint8Array, encoding: Encoding, content: string): string {
  return createHmac(algorithm, key).update(content).digest(encoding);
}

export const hmac256 = (key: string | Uint8Array, encoding: Encoding, content: string) =>
  hmac("sha256", key, encoding, content);

export const seconds = (at: number) => String(Math.floor(at / 1000));

/** Runs with the clock at a time: what packages call fresh lies between five seconds and five minutes. */
async function atTime<T>(at: number, run: () => T | Promise<T>): Promise<T> {
  mock.timers.enable({ apis: ["Date"], now: at });
  try {
    return await run();
  } finally {
    mock.timers.reset();
  }
}

const secretOf = ({ secret, keys = [] }: Pick<Provider, "secret" | "keys">) => secret ?? keys[0] ?? "";

async function passes(provider: Provider, lib: Package, delivery: Delivery): Promise<boolean> {
  try {
    return Boolean(await provider.accepts(lib, delivery, secretOf(provider)));
  } catch {
    return false;
  }
}

const packageOf = (provider: Provider): Promise<Package> => load(provider.module ?? provider.package);

/** The package and its version. */
export const versionOf = (provider: Provider) => `${provider.package}@${dependencies[provider.package]}`;

/** Whether the provider's package accepts a vector at the time when it is fresh. */
export async function isAccepted(provider: Provider, vector: Vector): Promise<boolean> {
  const lib = await packageOf(provider);
  const body = Buffer.from(vector.body, "base64").toString("utf8");
  return await atTime(vector.at, () => passes(provider, lib, { ...vector, body }));
}

/**
 * Makes a delivery to an address and has the provider's package judge it.
 *
 * @returns the vector, and the same with a change that the package refuses
 * @throws Error when the package refuses the delivery, or accepts the changed one
 */
export async function prove(
  provider: Provider,
  at: number,
  url = URL_OF_RECEIVER,
): Promise<{ genuine: Vector; altered: Vector }> {
  const { preset, how, secret, keys, options } = provider;
  const lib = await packageOf(provider);
  const by = versionOf(provider);
  return await atTime(at, async () => {
    const sent = await provider.send(lib, secretOf(provider), at, url);
    const delivery: Delivery = {
      url,
      method: "POST",
      body: EVENT,
      ...sent,
      headers: { "content-type": "application/json", ...sent.headers },
    };
    const changed = (provider.alter ?? alterAmount)(delivery);
    if (!(await passes(provider, lib, delivery))) throw new Error(`${by} refuses the delivery of ${preset}`);
    if (await passes(provider, lib, changed)) throw new Error(`${by} accepts a changed delivery of ${preset}`);
    const vectorOf = ({ url, method, headers, body }: Delivery): Vector => ({
      preset,
      by,
      how,
      ...(secret === undefined ? {} : { secret }),
      ...(keys === undefined ? {} : { keys }),
      ...(options === undefined ? {} : { options }),
      url,
      method,
      headers,
      body: Buffer.from(body).toString("base64"),
      at,
    });
    return { genuine: vectorOf(delivery), altered: vectorOf(changed) };
  });
}
