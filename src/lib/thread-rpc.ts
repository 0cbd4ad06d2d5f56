import type { MessagePort, Transferable, Worker } from "node:worker_threads";
import { AppError, describeError, type ErrorCode } from "../errors.ts";

/** A call to another thread. */
interface Call {
  id: number;
  service: string;
  method: string;
  args: unknown[];
}

/** The result or error of the call with this id. */
type Reply = { id: number; result: unknown } | { id: number; error: Failure };

/** An error as it is sent back: an {@link AppError} without its headers, or the message of any other error. */
type Failure = { message: string } & (
  | { code: null }
  | ({ code: ErrorCode } & Pick<AppError, "retryAfterSeconds" | "errors" | "members">)
);

type ArgsOf<Method> = Method extends (...args: infer Args) => unknown ? Args : never;
type ResultOf<Method> = Method extends (...args: never[]) => infer Result ? Result : never;

/** Calls methods of objects that are on another thread, by the names of both. */
export interface RpcClient<Services extends object> {
  /** `transfer` lists the objects that are transferred instead of copied. */
  call<Service extends keyof Services & string, Name extends keyof Services[Service] & string>(
    service: Service,
    method: Name,
    args: ArgsOf<Services[Service][Name]>,
    transfer?: Transferable[],
  ): Promise<ResultOf<Services[Service][Name]>>;
}

/**
 * Calls a thread that runs {@link serveCalls}. `died` resolves with the reason when the thread has ended. From then on
 * every call fails with `store_unavailable`, and so do the pending ones.
 */
export function callThread<Services extends object>(
  worker: Worker,
  name: string,
): RpcClient<Services> & { died: Promise<Error> } {
  const pending = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let lastId = 0;
  let failure: Error | undefined;

  worker.on("message", (reply: Reply) => {
    const waiter = pending.get(reply.id);
    pending.delete(reply.id);
    if ("error" in reply) waiter?.reject(toError(reply.error));
    else waiter?.resolve(reply.result as never);
  });
  const died = new Promise<Error>((resolve) => {
    let reason = new Error(`${name} ended`);
    worker.on("error", (error) => {
      reason = error as Error;
    });
    worker.on("exit", () => {
      failure = reason;
      for (const { reject } of pending.values()) reject(unavailable(reason));
      pending.clear();
      resolve(reason);
    });
  });

  return {
    died,
    call(service, method, args, transfer = []) {
      if (failure) return Promise.reject(unavailable(failure));
      return new Promise((resolve, reject) => {
        const id = ++lastId;
        pending.set(id, { resolve, reject });
        worker.postMessage({ id, service, method, args } satisfies Call, transfer);
      });
    },
  };
}

function unavailable(cause: Error): AppError {
  return new AppError("store_unavailable", { retryAfterSeconds: 1, cause });
}

function toError({ message, ...failure }: Failure): Error {
  const cause = new Error(message);
  if (failure.code === null) return cause;
  const { code, ...options } = failure;
  return new AppError(code, { cause, ...options });
}

/** Runs one call of a method. */
export type RunCall = <T>(call: () => T, service: string) => T;

/** Answers the calls that come through a port, in order. */
export function serveCalls(services: Readonly<Record<string, object>>, port: MessagePort, run: RunCall): void {
  function reply({ id, service, method, args }: Call): Reply {
    try {
      const methods = services[service] as Record<string, (...args: unknown[]) => unknown> | undefined;
      const found = methods?.[method];
      if (!found) throw new Error(`no ${service}.${method}`);
      return { id, result: run(() => found(...args), service) };
    } catch (error) {
      return { id, error: fromError(error) };
    }
  }
  port.on("message", (call: Call) => port.postMessage(reply(call)));
}

/** Makes an error, or any other thrown value, ready to be sent to another thread. */
function fromError(error: unknown): Failure {
  if (!(error instanceof AppError)) return { code: null, message: describeError(error) };
  const { code, retryAfterSeconds, errors, members } = error;
  return { code, retryAfterSeconds, errors, members, message: describeError(error.cause ?? error) };
}
