import type { IncomingHttpHeaders } from "node:http";
import { parse, stringify } from "node:querystring";
import { splitTarget } from "../../lib/request-target.ts";
import type { AddressForm } from "./schemes.ts";
import { credentialsIn } from "./shared-secret.ts";
import type { SignedRequest } from "./signed-text.ts";

/**
 * The request under each address that its sender may have signed: as it was sent and, if it is configured, under the
 * public origin; each in all forms of the scheme.
 */
export function addressesOf(
  request: SignedRequest,
  publicOrigin: string | undefined,
  forms: readonly AddressForm[] = [],
): SignedRequest[] {
  const sent = publicOrigin === undefined ? [request.origin] : [request.origin, publicOrigin];
  const ofPorts = forms.includes("port") ? sent.flatMap(withAndWithoutPort) : sent;
  const user = forms.includes("credentials") ? userIn(request.headers) : null;
  const origins = user === null ? ofPorts : [...ofPorts, ...ofPorts.map((origin) => withUser(origin, user))];
  const targets = [request.target, ...forms.map((form) => TARGET_FORMS[form](request.target))];
  return [...new Set(origins)].flatMap((origin) =>
    [...new Set(targets)].map((target) => ({ ...request, origin, target })),
  );
}

function withAndWithoutPort(origin: string): string[] {
  const bare = origin.replace(/:[0-9]+$/, "");
  const port = bare.startsWith("https:") ? 443 : 80;
  return bare === origin ? [origin, `${bare}:${port}`] : [origin, bare];
}

/**
 * The user and password of HTTP Basic authentication as a URL has them (RFC 3986, 3.2.1); null without any. What a URL
 * cannot have there is escaped, so that nothing of it counts as the host.
 */
function userIn({ authorization = "" }: IncomingHttpHeaders): string | null {
  const [, user = "", password = ""] = /^([^:]+):(.*)$/s.exec(String(credentialsIn(authorization) ?? "")) ?? [];
  if (user === "") return null;
  const [name, secret] = [user, password].map((text) =>
    text.toWellFormed().replace(/[^A-Za-z0-9._~!$&'()*+,;=-]+/g, encodeURIComponent),
  );
  return secret === "" ? `${name}` : `${name}:${secret}`;
}

const withUser = (origin: string, user: string) => origin.replace("://", () => `://${user}@`);

const TARGET_FORMS: Record<AddressForm, (target: string) => string> = {
  port: (target) => target,
  credentials: (target) => target,
  "query-encoded": (target) => {
    const [path, query] = splitTarget(target);
    return query === undefined ? target : `${path}?${stringify(parse(query))}`;
  },
  normalized: (target) => {
    const url = URL.parse(target, "http://any.example");
    return url === null ? target : url.pathname + url.search;
  },
  decoded: (target) => target.replace(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, (sign) => decodeURIComponent(sign)),
};
