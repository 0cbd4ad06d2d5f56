import type { Person } from "../auth/people/people.ts";
import { revokeBrowserMarks } from "../auth/throttle/browser-mark.ts";
import { bucketsFor, isKnownAddress } from "../auth/throttle/rules.ts";
import type { Bucket, ThrottleStore } from "../auth/throttle/store.ts";
import { canonicalEmail } from "../auth/user.ts";
import { readPeople } from "./known-people.ts";
import { makeChange } from "./make-change.ts";
import { addressOption } from "./option-values.ts";
import { counted, printData, printJson, say, sayOrLog } from "./output.ts";
import { type CommandStores, withStores } from "./stores.ts";
import { printTable } from "./table.ts";

interface ThrottleOptions {
  address?: string;
  json?: boolean;
}

/** Shows the failed logins that count now: in total, at the e-mail of each person, and from one address. */
export function runThrottleShow({ address, json }: ThrottleOptions): Promise<void> {
  const asked = addressOption(address) ?? null;
  return withStores(async (stores) => {
    const { throttle, now: clock } = stores;
    const now = clock();
    const people = await readPeople(stores);
    const total = await throttle.totals(now);
    const isKnown = asked !== null && (await isKnownAddress(throttle, asked, people, now));
    const countsOf = ({ email }: Person) => countsAt(throttle, { email, address: asked, isKnown }, now);
    const [first, ...others] = await Promise.all(
      people.map(async (person) => ({ name: person.name, counts: await countsOf(person) })),
    );
    if (json) {
      const named = others.map(({ name, counts }) => ({ name, ...counts }));
      return printJson({ total, ...first?.counts, ...(named.length > 0 && { people: named }) });
    }
    const all = first?.counts.address ?? null;
    const rows = [
      ...(first ? rowsOf("user", "the user", first.counts) : []),
      ...others.flatMap(({ name, counts }) => rowsOf(name, name, counts)),
      ...(all ? [[`all, from ${all.address}`, ...cells(all.inAll)]] : []),
    ];
    printTable(["FAILURES AT", "COUNT", "LIMIT", "RETRY AFTER"], rows);
    const { failures, buckets } = total;
    printData(`Total: ${counted(failures, "failed login")}, from ${counted(buckets, "pair")} of address and e-mail.`);
    if (isKnown) say(`${asked} has logged in before, so only its own failures count.`);
  });
}

/** Forgets the failed logins of one address, or all failed logins. */
export function runThrottleClear({ address, json }: ThrottleOptions): Promise<void> {
  const asked = addressOption(address) ?? null;
  return withStores(async (stores) => {
    const { throttle } = stores;
    const cleared = await makeChange(stores, {
      action: "throttle.clear",
      asked: { address: asked },
      make: async () => (asked === null ? throttle.clear("all") : clearAddress(stores, asked)),
      outcome: (count) => (count === 0 ? null : { cleared: count }),
    });
    if (json) printJson({ cleared });
    const line = { event: "throttle_cleared", cleared, ...(asked === null ? {} : { address: asked }) } as const;
    if (cleared > 0) sayOrLog(line, `Forgot ${counted(cleared, "failed login")}.`);
    else if (!json) say("There are no failed logins to forget.");
  });
}

/** Forgets the failed logins of an address at each e-mail. Those at all e-mails are counted with the first one. */
async function clearAddress(stores: CommandStores, address: string): Promise<number> {
  let cleared = 0;
  for (const { email } of await readPeople(stores)) {
    const { networks, pair, email: ofEmail, address: ofAddress, codes } = bucketsFor(address, canonicalEmail(email));
    cleared += await stores.throttle.clear({
      pair: pair.bucket,
      email: ofEmail.bucket,
      networks: networks.map(({ bucket }) => bucket),
      address: ofAddress.bucket,
      codes: codes.bucket,
    });
  }
  return cleared;
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

/** The failures at the e-mail of a person, and from an address. */
async function countsAt(
  throttle: ThrottleStore,
  { email, address, isKnown }: { email: string; address: string | null; isKnown: boolean },
  now: number,
) {
  const own = bucketsFor(address ?? "", canonicalEmail(email));
  const countIn = (bucket: Bucket) => countOf(throttle, bucket, now);
  return {
    user: await countIn(own.email),
    codes: await countIn(own.codes),
    address:
      address === null
        ? null
        : { address, ...(await countIn(own.pair)), known: isKnown, inAll: await countIn(own.address) },
  };
}

const rowsOf = (name: string, owner: string, { user, codes, address }: Awaited<ReturnType<typeof countsAt>>) => [
  [name, ...cells(user)],
  [`codes of ${owner}`, ...cells(codes)],
  ...(address ? [[`${name}, from ${address.address}`, ...cells(address)]] : []),
];

function cells({ failures, limit, retryAfterSeconds }: Count): string[] {
  return [String(failures), String(limit), retryAfterSeconds > 0 ? `${retryAfterSeconds} s` : "-"];
}
