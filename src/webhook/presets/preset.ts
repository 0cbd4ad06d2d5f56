import type { Place, Scheme } from "../schemes.ts";

/** How a known provider signs its deliveries, and where it names them. */
export interface Preset {
  title: string;
  /** The provider's page. */
  docs: string;
  /** Any one of them is enough. */
  schemes: readonly Scheme[];
  /** What a signature covers of the body: all, a part that the provider chose, or nothing. */
  covers: "body" | "part" | "none";
  /** Where the id and the type of an event lie; the first that is there counts. Without them the usual places are looked at. */
  id?: readonly Place[];
  type?: readonly Place[];
  /** Media types that it sends, when not only `application/json`. */
  contentTypes?: readonly string[];
  /** The largest body that it sends, when over 1 MB; in bytes. */
  bodyLimitBytes?: number;
}
