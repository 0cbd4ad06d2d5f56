import { Cluster } from "ioredis";

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
