import { splitTarget } from "../../lib/request-target.ts";
import type { SignatureSettings } from "../signature/bound-scheme.ts";
import { isSecretField } from "../signature/schemes.ts";

/** The query of a delivery without a body, but for the parameters that hold the secret. */
export function payloadOfQuery({ schemes }: Pick<SignatureSettings, "schemes">, target = ""): Buffer {
  const [, query = ""] = splitTarget(target);
  const fields = query.split("&").filter((field) => !isSecretField(schemes, field));
  return Buffer.from(fields.join("&"), "latin1");
}
