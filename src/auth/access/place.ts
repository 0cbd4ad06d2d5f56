import { AppError, type Fault, faultText } from "../../errors.ts";

/** A proxy does not say clearly what it asks about. Its fault is for the operator. */
export class UnclearQuestion extends AppError {
  readonly fault: Fault;

  constructor(found: string, remedy: string) {
    super("validation_failed", { errors: [{ path: "the proxy", message: faultText({ found, remedy }) }] });
    this.fault = { found: `a proxy ${found}`, remedy };
  }
}

/** Where a request of a protected app goes. */
export interface RequestedPlace {
  /** In lower case, without port and final dot. */
  host: string;
  /** As it was sent, without the query. */
  path: string;
  /** As it was sent, without the `?`. Null without one. */
  query: string | null;
}

const URL_FORM = /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?(\/[^?]*)?(?:\?(.*))?$/is;

/**
 * Where a URL leads to, as the proxy has written it. Null if it has not exactly this form: a library would mend it, and
 * so read another host or path than the app does.
 */
export function placeOf(url: string): RequestedPlace | null {
  const [, host, path = "/", query = null] = URL_FORM.exec(url) ?? [];
  return host === undefined ? null : { host: host.toLowerCase().replace(/\.$/, ""), path, query };
}
