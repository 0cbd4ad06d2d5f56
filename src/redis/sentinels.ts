import {
  Redis,
  type RedisOptions,
  type SentinelAddress,
  type SentinelConnectionOptions,
  SentinelConnector,
  type SentinelIterator,
} from "ioredis";

type Address = Pick<SentinelAddress, "host" | "port">;

const ASK_EVERY_MS = 500;
const RECONNECT_MS = 500;

/** Knows when sentinels name another master than the one that the driver was led to. */
export interface SentinelWatch {
  /** How the driver finds the master. */
  driverOptions: Required<Pick<RedisOptions, "Connector" | "natMap">>;
  /** Says who has the driver connect anew. */
  onNewMaster(connectAnew: () => void): void;
  close(): void;
}

/**
 * Asks each sentinel for the master, again and again, over a connection with these options. The driver's own way, its
 * `failoverDetector`, waits for a message: it hears none for up to a minute after a sentinel has restarted, and takes the
 * failover of any other master for its own.
 */
export function watchSentinels(
  sentinels: Address[],
  master: string,
  options: Omit<RedisOptions, "replyMapping">,
): SentinelWatch {
  let isClosed = false;
  let connectAnew = () => {};
  /** What each sentinel said last, also before it restarted, as "host:port". */
  const answers = new Map<Address, string>();
  /** Where the driver was led last. */
  let followed: string | undefined;
  /** The sentinel that named a new master; others may lag. */
  let first: Address | undefined;
  /** The sentinel whose word was followed last. */
  let mover: Address | undefined;

  function hear(sentinel: Address, named: string): void {
    const before = answers.get(sentinel);
    answers.set(sentinel, named);
    if (named === followed || followed === undefined) return;
    // One whose word was followed is heard again: the driver may have been led elsewhere.
    if (named === before && sentinel !== mover) return;
    // The first word of a sentinel may be out of date.
    if (before === undefined && [...answers.values()].includes(followed)) return;
    followed = named;
    first = sentinel;
    mover = sentinel;
    connectAnew();
  }

  function watch(sentinel: Address): Redis {
    const client = new Redis({ ...options, ...sentinel, retryStrategy: () => RECONNECT_MS });
    // One that is down is no fault while another answers; the driver says when none does.
    client.on("error", () => {});
    const ask = async () => {
      const answer = await client.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", master).catch(() => null);
      if (isClosed) return;
      if (Array.isArray(answer)) hear(sentinel, answer.join(":"));
      setTimeout(ask, ASK_EVERY_MS).unref();
    };
    setTimeout(ask, ASK_EVERY_MS).unref();
    return client;
  }

  class Connector extends SentinelConnector {
    constructor(options: unknown) {
      super(options as SentinelConnectionOptions);
    }
    override connect(...args: Parameters<SentinelConnector["connect"]>) {
      turnTo(first, this.sentinelIterator);
      first = undefined;
      return super.connect(...args);
    }
  }

  const clients = sentinels.map(watch);
  return {
    driverOptions: {
      Connector,
      // Called with every address that a sentinel tells; the master's comes last.
      natMap(address) {
        followed = address;
        return null;
      },
    },
    onNewMaster(listener) {
      connectAnew = listener;
    },
    close() {
      isClosed = true;
      for (const client of clients) client.disconnect();
    },
  };
}

/**
 * Has the driver begin with one sentinel, or else with the one behind that which it asked last: behind the last of them it
 * would say that all are unreachable.
 */
function turnTo(wanted: Address | undefined, sentinels: SentinelIterator): void {
  if (wanted) sentinels.reset(false);
  let next = sentinels.next();
  while (wanted && !next.done && !(next.value.host === wanted.host && next.value.port === wanted.port)) {
    next = sentinels.next();
  }
  sentinels.reset(!next.done);
}
