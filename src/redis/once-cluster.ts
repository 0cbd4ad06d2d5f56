import { Cluster } from "ioredis";

/**
 * A cluster that sends no command again that may have been done. When its connection ends the driver would, even after
 * the failure of a command that ran out of time was answered. What a node refused still goes where it belongs.
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
