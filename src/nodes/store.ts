import type { Fault } from "../errors.ts";

/** A server that shares a database with others, as it describes itself. */
export interface Node {
  /** Differs at each start. */
  id: string;
  host: string;
  url: string;
  version: string;
}

/** A server that has been seen. Times are Unix milliseconds of the database's clock. */
export interface NodeRecord extends Node {
  startedAt: number;
  seenAt: number;
  isAlive: boolean;
  /** How late its newest heartbeat was: the server, the network or the database was slow. */
  lagMs: number;
  /** How far its own clock is ahead of the database's. */
  clockOffsetMs: number;
}

/** A sign of life. `dueAt` is by the database's clock, `clock` by the server's own; Unix milliseconds. */
interface Heartbeat {
  node: Node;
  dueAt: number;
  clock: number;
}

/** After this time without a heartbeat a server counts as dead. */
export const DEAD_AFTER_MS = 15_000;

/** Knows the servers that share a database. */
export interface NodeStore {
  /**
   * Records a heartbeat. Returns the number of servers that are alive, with this one. Of two servers at once, one at
   * least counts both. The first heartbeat takes the place of an earlier server with the same host and URL.
   */
  beat(heartbeat: Heartbeat): Promise<number>;
  /** Forgets a server that stops. */
  leave(id: string): Promise<void>;
  /** The servers of the last day, by host and URL. */
  list(): Promise<NodeRecord[]>;
}

/**
 * Why a server of this version may not share a database with another one; null if it may: their minor versions are
 * equal or follow each other.
 */
export function faultBeside({ host, url, version }: Node, own: string): Fault | null {
  const [major, minor = 0] = own.split(".").map(Number);
  const [otherMajor, otherMinor = 0] = version.split(".").map(Number);
  if (major === otherMajor && Math.abs(minor - otherMinor) <= 1) return null;
  const found = `${host} ${url} runs ${version}, which is not a neighbour of ${own}`;
  return { found, remedy: "stop it first, or upgrade it by one minor version at a time" };
}

/** Leases for work that one server does at a time. */
export interface Leases {
  /**
   * Takes a lease, or prolongs it. Returns false while another holder has it. It ends after `ttlMs`, so that a dead
   * holder loses it.
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<boolean>;
}
