import { Cluster } from "ioredis";

/**
 * A cluster client that never repeats a command that may have been executed. ioredis repeats it when the connection ends,
 * even if its timeout has been reported already. A command that a node refused is still sent on to the right one.
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
      (mayBeDone ? reject : rejectOrSendAgain).call(command, error);
    };
    return answer;
  }
}
