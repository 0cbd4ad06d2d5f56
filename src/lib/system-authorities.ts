import { getCACertificates, setDefaultCACertificates } from "node:tls";

let areTrusted = false;

/**
 * Makes TLS connections of this thread trust the authorities of the machine, beside those that Node brings along: a
 * company's own are only there. Reads them once, which takes a tenth of a second.
 */
export function trustSystemAuthorities(): void {
  if (areTrusted) return;
  setDefaultCACertificates([...getCACertificates("default"), ...getCACertificates("system")]);
  areTrusted = true;
}
