import { Cluster, type Redis } from "ioredis";

/** Whether a cluster refused a command that it may take a moment later. */
export function isRefusedForNow(error: unknown): boolean {
  return error instanceof Error && /^(?:TRYAGAIN|CLUSTERDOWN)\b/.test(error.message);
}

/**
 * A cluster client that never repeats a command by itself that may have been executed, or whose timeout may have been
 * reported. ioredis repeats it when the connection ends, and a while after the cluster has refused it for the moment. A
 * command that belongs to another node is still sent on to that one.
 */
export class OnceCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster["sendCommand"]>): unknown {
    const { reject, toWritable } = command;
    let isSent = false;
    command.toWritable = (socket) => {
      isSent = true;
      return toWritable.call(command, socket);
    };
    const answer = super.sendCommand(command, stream, node);
    const rejectOrSendAgain = command.reject;
    command.reject = (error) => {
      if (command.isSettled) return;
      const mayBeDone = isSent && error.message === "Connection is closed.";
      (mayBeDone || isRefusedForNow(error) ? reject : rejectOrSendAgain).call(command, error);
    };
    return answer;
  }
}

type Command = Parameters<Redis["sendCommand"]>[0];

/**
 * Lets a cluster be used whose nodes name no host: one that has met no other yet, or `cluster-preferred-endpoint-type
 * unknown-endpoint`. Redis means the host that was asked (https://redis.io/docs/latest/commands/cluster-slots/); ioredis
 * leaves such nodes out, and follows a redirection to them to this machine.
 */
export function nameHosts(cluster: Cluster): void {
  cluster.on("+node", nameHostsOf);
}

function nameHostsOf(node: Redis): void {
  const { sendCommand, duplicate } = node;
  const { host = "" } = node.options;
  node.sendCommand = (command, stream) => {
    nameHostsIn(command, host);
    return sendCommand.call(node, command, stream);
  };
  // The driver asks for the slots over a copy of the connection.
  node.duplicate = ((...options) => {
    const copy = duplicate.apply(node, options);
    nameHostsOf(copy);
    return copy;
  }) as Redis["duplicate"];
}

function nameHostsIn(command: Command, host: string): void {
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
  // An IPv6 address begins with a colon, too.
  error.message = error.message.replace(/^((?:MOVED|ASK) [0-9]+ )(?=:[0-9]+$)/, (begin) => begin + host);
  return error;
}
