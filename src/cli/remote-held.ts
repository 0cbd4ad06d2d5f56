import { isoTime } from "../lib/iso-time.ts";
import type { HeldFilter, HeldSummary } from "../webhook/held/held-store.ts";
import type { AdmittedHeld } from "../webhook/stages/reverify.ts";
import { OperationProblem, type RemoteServer } from "./remote.ts";

const PAGE = 500;

/** A held delivery as it is shown, without values that may be secrets. */
export interface ShownHeld extends HeldSummary {
  method: string;
  url: string;
  headers: Record<string, string>;
  payload: string;
  /** The bytes of a payload that is not UTF-8. */
  payloadBase64?: string;
}

/** The held deliveries of a server on another machine. */
export function remoteHeld(server: RemoteServer) {
  return {
    async list({ source, since, after, limit }: HeldFilter): Promise<HeldSummary[]> {
      const items: HeldSummary[] = [];
      const conditions = { source, since: since === undefined ? undefined : isoTime(since) };
      let cursor = after === undefined ? null : String(after);
      do {
        const query = { ...conditions, limit: Math.min(PAGE, limit - items.length), cursor: cursor ?? undefined };
        const page: { items: HeldSummary[]; cursor: string | null } = await server.get("held", query);
        items.push(...page.items);
        cursor = page.cursor;
      } while (cursor !== null && items.length < limit);
      return items;
    },
    /** Null if there is none of this id. */
    async show(id: string): Promise<ShownHeld | null> {
      try {
        const { explanation: _, ...shown } = await server.get<ShownHeld & { explanation: unknown }>("held/one", { id });
        return shown;
      } catch (error) {
        if (error instanceof OperationProblem && error.code === "not_found") return null;
        throw error;
      }
    },
    async reverify(page: readonly HeldSummary[], dryRun: boolean): Promise<AdmittedHeld> {
      const ids = page.map(({ id }) => id);
      const { matched: genuine, ...others } = await server.post<Omit<AdmittedHeld, "genuine"> & { matched: number }>(
        "held/reverify",
        { ids, dryRun },
      );
      return { genuine, ...others };
    },
  };
}
