import { getCACertificates, setDefaultCACertificates } from "node:tls";

let areTrusted = false;

/**
 * Makes TLS connections of this thread trust the system's certificate authorities too, e.g. a company's own. Node's
 * authorities stay trusted. Reads them once, which takes a tenth of a second.
 */
export function trustSystemAuthorities(): void {
  if (areTrusted) return;
  setDefaultCACertificates([...getCACertificates("default"), ...getCACertificates("system")]);
  areTrusted = true;
}
