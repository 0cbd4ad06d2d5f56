import { revokeBrowserMarks } from "../auth/throttle/browser-mark.ts";
import { bucketsFor } from "../auth/throttle/rules.ts";
import { type Bucket, KNOWN_ADDRESS_MS, type ThrottleStore } from "../auth/throttle/store.ts";
import { canonicalEmail } from "../auth/user.ts";
import { makeChange } from "./make-change.ts";
import { addressOption } from "./option-values.ts";
import { counted, printData, printJson, say, sayOrLog } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";

interface ThrottleOptions {
  address?: string;
  json?: boolean;
}

/** Shows the failed logins that count now: in total, at the user's e-mail, and from one address. */
export function runThrottleShow({ address, json }: ThrottleOptions): Promise<void> {
  const asked = addressOption(address) ?? null;
  return withStores(
    async ({ throttle, settings, now: clock }) => {
      const now = clock();
      const own = bucketsFor(asked ?? "", canonicalEmail(settings.DEMO_EMAIL));
      const shown = {
        total: await throttle.totals(now),
        user: await countOf(throttle, own.email, now),
        codes: await countOf(throttle, own.codes, now),
        address: asked === null ? null : { address: asked, ...(await addressCount(throttle, own, now)) },
      };
      if (json) return printJson(shown);
      const rows = [
        ["user", ...cells(shown.user)],
        ["codes of the user", ...cells(shown.codes)],
      ];
      if (shown.address) {
        rows.push([`user, from ${shown.address.address}`, ...cells(shown.address)]);
        rows.push([`all, from ${shown.address.address}`, ...cells(shown.address.inAll)]);
      }
      printTable(["FAILURES AT", "COUNT", "LIMIT", "RETRY AFTER"], rows);
      const { failures, buckets } = shown.total;
      printData(`Total: ${counted(failures, "failed login")}, from ${counted(buckets, "pair")} of address and e-mail.`);
      if (shown.address?.known) say(`${shown.address.address} has logged in before, so only its own failures count.`);
    },
    ["DEMO_EMAIL"],
  );
}

/** Forgets the failed logins of one address, or all failed logins. */
export function runThrottleClear({ address, json }: ThrottleOptions): Promise<void> {
  const asked = addressOption(address) ?? null;
  return withStores(
    async (stores) => {
      const { throttle, settings } = stores;
      const { networks, ...own } = bucketsFor(asked ?? "", canonicalEmail(settings.DEMO_EMAIL));
      const names = {
        pair: own.pair.bucket,
        email: own.email.bucket,
        networks: networks.map(({ bucket }) => bucket),
        address: own.address.bucket,
        codes: own.codes.bucket,
      };
      const cleared = await makeChange(stores, {
        action: "throttle.clear",
        asked: { address: asked },
        make: () => throttle.clear(asked === null ? "all" : names),
        outcome: (count) => (count === 0 ? null : { cleared: count }),
      });
      if (json) printJson({ cleared });
      const line = { event: "throttle_cleared", cleared, ...(asked === null ? {} : { address: asked }) } as const;
      if (cleared > 0) sayOrLog(line, `Forgot ${counted(cleared, "failed login")}.`);
      else if (!json) say("There are no failed logins to forget.");
    },
    ["DEMO_EMAIL"],
  );
}

/** Revokes the marks of all browsers that have logged in. */
export function runThrottleForgetBrowsers({ json }: Pick<ThrottleOptions, "json">): Promise<void> {
  return withStores(async (stores) => {
    const { throttle, now } = stores;
    await makeChange(stores, {
      action: "throttle.forget_browsers",
      asked: {},
      make: () => revokeBrowserMarks(throttle, now()),
      outcome: () => ({}),
    });
    if (json) printJson({ forgotten: true });
    sayOrLog(
      { event: "browsers_forgotten" },
      "Browsers that have logged in count as any other until their next login.",
    );
  });
}

interface Count {
  failures: number;
  limit: number;
  retryAfterSeconds: number;
}

async function countOf(throttle: ThrottleStore, bucket: Bucket, now: number): Promise<Count> {
  const failures = await throttle.failures(bucket.bucket, now);
  return {
    failures,
    limit: bucket.limit,
    retryAfterSeconds: Math.ceil((await throttle.retryAfterMs([bucket], now)) / 1000),
  };
}

async function addressCount(throttle: ThrottleStore, { pair, address }: ReturnType<typeof bucketsFor>, now: number) {
  return {
    ...(await countOf(throttle, pair, now)),
    known: await throttle.isKnown(pair.bucket, now - KNOWN_ADDRESS_MS),
    inAll: await countOf(throttle, address, now),
  };
}

function cells({ failures, limit, retryAfterSeconds }: Count): string[] {
  return [String(failures), String(limit), retryAfterSeconds > 0 ? `${retryAfterSeconds} s` : "-"];
}
