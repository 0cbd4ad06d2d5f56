import type { HandshakeKind } from "../handshakes/kind.ts";
import type { IdPlace, Place, Scheme } from "../schemes.ts";
import type { Dedupe } from "../source.ts";

/** How a known provider signs its deliveries, and where it names them. */
export interface Preset {
  title: string;
  /** The provider's page. */
  docs: string;
  /** Any one of them is enough. */
  schemes: readonly Scheme[];
  /** What a source sets besides secrets or keys: what each option is, and what happens without it, if it may be left out. */
  options?: Readonly<Record<string, { is: string; without?: string }>>;
  /** What a signature covers of the body: all, a part that the provider chose, or nothing. */
  covers: "body" | "part" | "none";
  /** Where the id and the type of an event lie; the first that is there counts. Without them the usual places are looked at. */
  id?: readonly IdPlace[];
  type?: readonly Place[];
  /** What makes a duplicate, and why, if not `bytes`. */
  dedupe?: { mode: Dedupe; why: string };
  /** Media types that it sends, when not only `application/json`. */
  contentTypes?: readonly string[];
  /** The largest body that it sends, when over 1 MB; in bytes. */
  bodyLimitBytes?: number;
  /** What it asks for before it delivers. */
  handshake?: HandshakeKind;
  /** The text that it expects as the answer to a delivery, when not only a status. */
  acknowledgement?: string;
  /** The status that it needs for a wrong signature, when not 403. */
  refusedStatus?: 401;
  /** Whether it refuses answers that have a body. */
  needsEmptyAnswers?: true;
}
