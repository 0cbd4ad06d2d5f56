import { Cluster, type Redis } from "ioredis";

/** Whether a cluster refused a command only for the moment. */
export function isRefusedForNow(error: unknown): boolean {
  return error instanceof Error && /^(?:TRYAGAIN|CLUSTERDOWN)\b/.test(error.message);
}

/**
 * A cluster client that executes each command at most once. ioredis resends a command when the connection has ended or
 * the cluster refused it temporarily. It may have been executed by then, or reported as timed out. Redirections to
 * another node are still followed.
 */
export class AtMostOnceCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster["sendCommand"]>): unknown {
    const { reject, toWritable } = command;
    let isSent = false;
    command.toWritable = (socket) => {
      isSent = true;
      return toWritable.call(command, socket);
    };
    const answer = super.sendCommand(command, stream, node);
    const rejectOrResend = command.reject;
    command.reject = (error) => {
      if (command.isSettled) return;
      const mayBeExecuted = isSent && error.message === "Connection is closed.";
      (mayBeExecuted || isRefusedForNow(error) ? reject : rejectOrResend).call(command, error);
    };
    return answer;
  }
}

type Command = Parameters<Redis["sendCommand"]>[0];

/**
 * Fills in the hosts that cluster nodes leave empty: a node that has met no other yet, or one with
 * `cluster-preferred-endpoint-type unknown-endpoint`. An empty host means the host that was asked
 * (https://redis.io/docs/latest/commands/cluster-slots/). ioredis ignores such nodes and redirects to localhost.
 */
export function fillInHosts(cluster: Cluster): void {
  cluster.on("+node", fillInHostsOf);
}

function fillInHostsOf(node: Redis): void {
  const { sendCommand, duplicate } = node;
  const { host = "" } = node.options;
  node.sendCommand = (command, stream) => {
    fillInHostsIn(command, host);
    return sendCommand.call(node, command, stream);
  };
  // The driver sends CLUSTER SLOTS over a copy of the connection.
  node.duplicate = ((...options) => {
    const copy = duplicate.apply(node, options);
    fillInHostsOf(copy);
    return copy;
  }) as Redis["duplicate"];
}

function fillInHostsIn(command: Command, host: string): void {
  const { resolve, reject } = command;
  if (isSlots(command)) command.resolve = (ranges) => resolve.call(command, withHosts(ranges, host));
  command.reject = (error) => reject.call(command, redirectedTo(error, host));
}

function isSlots({ name, args }: Command): boolean {
  return name === "cluster" && String(args[0]).toUpperCase() === "SLOTS";
}

type Node = [endpoint: Buffer | null, ...unknown[]];
type SlotRange = [from: number, to: number, ...Node[]];

function withHosts(ranges: SlotRange[], host: string): unknown[] {
  return ranges.map(([from, to, ...nodes]) => [
    from,
    to,
    ...nodes.map(([endpoint, ...more]) => [endpoint?.length ? endpoint : host, ...more]),
  ]);
}

function redirectedTo(error: Error, host: string): Error {
  // Only digits may follow the colon: an IPv6 address may begin with a colon too.
  error.message = error.message.replace(/^((?:MOVED|ASK) [0-9]+ )(?=:[0-9]+$)/, (begin) => begin + host);
  return error;
}
