import { Agent as HttpAgent, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { describeError, systemCode } from "../../errors.ts";
import { DEFAULT_ROUTE } from "../../events/job.ts";
import type { HeardEvent } from "../../events/listening.ts";
import type { EventPayload } from "../../events/store.ts";
import { trustSystemAuthorities } from "../../lib/system-authorities.ts";
import { MAX_HEADER_BYTES, statusIn } from "../../lib/unread-answer.ts";
import { type Signer, signAsSender } from "../../webhook/samples/signed-again.ts";
import { headersOf } from "../../worker/handlers/http-headers.ts";
import { type ForwardUrl, lookupAs } from "./forward-url.ts";

/** How the target took an event. */
export interface TargetAnswer {
  /** Null without an answer. */
  status: number | null;
  ms: number;
  /** Why there is no answer; null if there is one. */
  error: string | null;
}

/** An answer, or what keeps the target from getting anything. */
type Sending = { isAway: false; answer: TargetAnswer } | { isAway: true; reason: string };

/** The program on this machine that gets the events. */
export interface LocalTarget {
  /** Its address, without credentials. */
  url: string;
  send(event: HeardEvent, isAgain: boolean): Promise<Sending>;
  /** Ends the connections of answers that go on. */
  close(): void;
}

/** How requests are signed: as a provider does, with the key that routes sign with, or not at all. */
export type Signing =
  | { as: "provider"; signer: Signer }
  | { as: "route"; key: Uint8Array | null; route: string | null };

const TIMEOUT_MS = 30_000;

/** Creates the target of a URL. */
export function createTarget({ url, loopback }: ForwardUrl, signing: Signing): LocalTarget {
  const isTls = url.startsWith("https:");
  // The certificate of a program under development names nobody.
  // Node would try each address of a name for a quarter of a second only, which a busy laptop may need for its own.
  const options =
    loopback === null
      ? {}
      : { lookup: lookupAs(loopback), autoSelectFamilyAttemptTimeout: TIMEOUT_MS, rejectUnauthorized: false };
  const agent = isTls ? new HttpsAgent(options) : new HttpAgent(options);
  if (isTls && loopback === null) trustSystemAuthorities();

  function post(to: string, headers: OutgoingHttpHeaders, body: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const options = {
        method: "POST",
        headers: { ...headers, "Content-Length": body.length },
        maxHeaderSize: MAX_HEADER_BYTES,
        agent,
        signal,
      };
      const sent = (isTls ? requestHttps : requestHttp)(to, options, (response) => {
        response.on("error", () => {}).resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve(response.statusCode ?? 0);
      });
      sent.on("error", (error) => {
        const status = statusIn(error);
        if (status !== 0) resolve(status);
        else reject(signal.aborted ? new Error("no answer in 30 s") : error);
      });
      sent.end(body);
    });
  }

  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  return {
    url: shown.href,
    close: () => agent.destroy(),
    async send({ content, ...event }, isAgain) {
      const startedAt = performance.now();
      const answered = (status: number | null, error: string | null): Sending => {
        return { isAway: false, answer: { status, ms: Math.round(performance.now() - startedAt), error } };
      };
      if (content === null) return answered(null, "unreadable");
      let request: ReturnType<typeof requestOf>;
      try {
        request = requestOf(url, { ...event, content }, signing, isAgain);
      } catch (error) {
        return answered(null, `not signed: ${describeError(error)}`);
      }
      try {
        return answered(await post(request.url, request.headers, request.body), null);
      } catch (error) {
        const code = systemCode(error);
        return isAway(error) ? { isAway: true, reason: code } : answered(null, describeError(error));
      }
    },
  };
}

const AWAY = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];

/** Whether there was no connection, so that nothing was sent. */
function isAway(error: unknown): boolean {
  const { syscall } = error as { syscall?: string };
  return AWAY.includes(systemCode(error)) || syscall === "connect" || error instanceof AggregateError;
}

type ReadableEvent = Omit<HeardEvent, "content"> & { content: EventPayload };

function requestOf(url: string, event: ReadableEvent, signing: Signing, isReplay: boolean) {
  const { content } = event;
  if (signing.as === "provider") return signAsSender(signing.signer, content, url, Date.now());
  const job = {
    ...{ ...event, ...content, event: event.id, route: signing.route ?? DEFAULT_ROUTE, isReplay },
    ...{ attempt: 1, countedAttempt: 1, attemptOfBudget: 1 },
  };
  return { url, headers: headersOf(job, content.payload, { key: signing.key }, Date.now()), body: content.payload };
}
