import {
  Redis,
  type RedisOptions,
  type SentinelAddress,
  type SentinelConnectionOptions,
  SentinelConnector,
  type SentinelIterator,
} from "ioredis";
import { repeat } from "../lib/repeat.ts";

type Address = Pick<SentinelAddress, "host" | "port">;

const ASK_EVERY_MS = 500;
const RECONNECT_MS = 500;

/**
 * Polls each sentinel for the master, over a connection with these options. The driver's `failoverDetector` waits for a
 * message instead. It gets none for up to a minute after a sentinel restarts, and reacts to failovers of other masters.
 */
export function watchSentinels(sentinels: Address[], master: string, options: Omit<RedisOptions, "replyMapping">) {
  let isClosed = false;
  let reconnect = () => {};
  /** The last answer of each sentinel as "host:port", kept when the sentinel restarts. */
  const answers = new Map<Address, string>();
  /** The master that the driver was last directed to. */
  let followed: string | undefined;
  /** The sentinel that named the new master. The driver asks it first, because others may lag. */
  let first: Address | undefined;
  /** The sentinel whose answer was followed last. */
  let lastFollowed: Address | undefined;

  function handleAnswer(sentinel: Address, named: string): void {
    const before = answers.get(sentinel);
    answers.set(sentinel, named);
    if (named === followed || followed === undefined) return;
    // An unchanged answer counts only from the sentinel followed last: the driver may have gone elsewhere since.
    if (named === before && sentinel !== lastFollowed) return;
    // The first answer of a sentinel may be out of date.
    if (before === undefined && [...answers.values()].includes(followed)) return;
    followed = named;
    first = sentinel;
    lastFollowed = sentinel;
    reconnect();
  }

  /** Asks a sentinel from now on. Returns a function that ends this. */
  function watch(sentinel: Address): () => void {
    // One sentinel may be down. The driver reports when none answers.
    const onError = () => {};
    const client = new Redis({ ...options, ...sentinel, retryStrategy: () => RECONNECT_MS }).on("error", onError);
    const ask = async () => {
      const answer = await client.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", master);
      if (Array.isArray(answer) && !isClosed) handleAnswer(sentinel, answer.join(":"));
    };
    const asking = repeat(ask, { everyMs: ASK_EVERY_MS, onError });
    return () => {
      void asking.stop();
      client.disconnect();
    };
  }

  class Connector extends SentinelConnector {
    constructor(options: unknown) {
      super(options as SentinelConnectionOptions);
    }
    override connect(...args: Parameters<SentinelConnector["connect"]>) {
      startAt(first, this.sentinelIterator);
      first = undefined;
      return super.connect(...args);
    }
  }

  const ends = sentinels.map(watch);
  return {
    /** Driver options for finding the master. */
    driverOptions: {
      Connector,
      // Called with every address that a sentinel gives. The master's is the last.
      natMap(address: string) {
        followed = address;
        return null;
      },
    },
    /** Sets the function that makes the driver reconnect. */
    onNewMaster(listener: () => void): void {
      reconnect = listener;
    },
    close(): void {
      isClosed = true;
      for (const end of ends) end();
    },
  };
}

/**
 * Makes the driver start with the wanted sentinel, or else with the one after the last it asked. At the end of the list
 * the driver would otherwise report that all sentinels are unreachable.
 */
function startAt(wanted: Address | undefined, sentinels: SentinelIterator): void {
  if (wanted) sentinels.reset(false);
  let next = sentinels.next();
  while (wanted && !next.done && !(next.value.host === wanted.host && next.value.port === wanted.port)) {
    next = sentinels.next();
  }
  sentinels.reset(!next.done);
}
