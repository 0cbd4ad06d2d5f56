/** Compares intake with many sources to intake with one, and measures the verification of a signature. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openContent } from "../src/webhook/content/content.ts";
import { DEFAULT_SCHEMES } from "../src/webhook/default-source.ts";
import { providerOf } from "../src/webhook/providers/index.ts";
import { signDelivery } from "../src/webhook/signature/sign.ts";
import { createVerifier } from "../src/webhook/signature/signature.ts";
import { figureLine, GOALS } from "./goals.ts";
import { playRun, prepareRun, spreadOf } from "./load.ts";
import { startProduct } from "./targets.ts";

const MANY = 1000;
const CONNECTIONS = 64;

/** Starts a server for each, in turn, and prints the ratio of their rates. */
export async function measureSources(scratch: string, rounds: number, seconds: number): Promise<void> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const run = await prepareRun(scratch, seconds, `evt_${Date.now().toString(36)}_`);
    const rates: number[] = [];
    for (const sources of round % 2 === 0 ? [1, MANY] : [MANY, 1]) {
      const target = await startProduct(scratch, { CONFIG_FILE: writeConfig(scratch, sources) });
      try {
        const { perSecond, errors } = await playRun(target, CONNECTIONS, run, sources);
        rates[sources === 1 ? 0 : 1] = perSecond;
        console.error(`round ${round + 1}, ${sources} sources: ${Math.round(perSecond)}/s, ${errors} errors`);
      } finally {
        await target.stop();
      }
    }
    ratios.push((rates[1] ?? 0) / (rates[0] ?? 1));
  }
  const { median, min, max } = spreadOf(ratios);
  console.log(
    figureLine(`${MANY} sources to one`, median, "x", GOALS.manySources),
    `(${min.toFixed(2)}–${max.toFixed(2)})`,
  );
}

function writeConfig(scratch: string, sources: number): string {
  const file = join(scratch, `sources-${sources}.yaml`);
  const lines = Array.from(
    { length: sources },
    (_, index) => `  s${index + 1}: { verify: { header: x-signature }, secrets: [env:WEBHOOK_SECRET] }\n`,
  );
  writeFileSync(file, `sources:\n${lines.join("")}`);
  return file;
}

const BODY = Buffer.from(JSON.stringify({ id: "evt_1", type: "t", data: randomBytes(496).toString("hex") }));
const WARM_UP = 20_000;
const VERIFICATIONS = 100_000;

/** Prints the time to verify a body of 1 KiB with the schemes of some senders, in microseconds. */
export function measureVerification(): void {
  const senders = { default: DEFAULT_SCHEMES };
  for (const name of ["github", "stripe", "slack", "standard_webhooks"]) {
    Object.assign(senders, { [name]: providerOf(name)?.schemes });
  }
  for (const [name, schemes] of Object.entries(senders)) {
    console.log(figureLine(`verify, ${name}`, microsecondsOf(schemes), "µs", GOALS.verifyMicroseconds));
  }
}

function microsecondsOf(schemes: typeof DEFAULT_SCHEMES): number {
  const [scheme] = schemes;
  if (!scheme) throw new Error("a sender has a scheme");
  const secret = randomBytes(24).toString("base64");
  const now = Date.now();
  const unsigned = {
    method: "POST",
    origin: "http://localhost",
    target: "/",
    mediaType: "application/json",
    body: BODY,
  };
  const { headers } = signDelivery(scheme, secret, { ...unsigned, headers: {} }, now);
  const verifier = createVerifier({ schemes, secrets: [{ name: "env:SECRET", value: secret, mark: "0000" }] });
  const verify = (count: number) => {
    for (let i = 0; i < count; i++) {
      const read = verifier.read(headers, now);
      if ("reason" in read) throw new Error(read.reason);
      const request = { ...unsigned, headers, content: openContent(BODY, unsigned.mediaType) };
      if (typeof verifier.verify(request, read.candidates) === "string") throw new Error("the signature is wrong");
    }
  };
  verify(WARM_UP);
  const startedAt = performance.now();
  verify(VERIFICATIONS);
  return ((performance.now() - startedAt) * 1000) / VERIFICATIONS;
}
