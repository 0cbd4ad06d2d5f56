import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "npm",
  docs: "https://docs.npmjs.com/cli/v10/commands/npm-hook",
  schemes: hmacOfBody("x-npm-signature", { label: "sha256=" }),
  type: ["body:event"],
  evidence: { kind: "sdk", by: "npm-hook-receiver@1.0.0" },
});
