import { AppError, PROBLEMS } from "../../src/errors.ts";
import { problem } from "../../src/http/problem.ts";
import { code, codeBlock, page, table } from "./markdown.ts";

const EXAMPLE = problem(new AppError("method_not_allowed"), "0e4d5a5e-1c3b-4f0e-9d57-6a3c8f2b7d10");

/** The page of error codes. */
export function errorsPage(): string {
  return page(
    "Error codes",
    "Every error has a stable `code`, which programs can rely on.",
    "The body is `application/problem+json` (RFC 9457):",
    codeBlock(JSON.stringify(EXAMPLE.body, null, 2), "json"),
    table(
      ["code", "status", "when"],
      Object.entries(PROBLEMS).map(([name, { status, when }]) => [code(name), String(status), when]),
    ),
    '`errors` lists the faults of a body as `{ "path": string, "message": string }`. The 503 of `/readyz` has [a body of its own](http.md#get-readyz).',
    "If a login replaced the session and the token has not expired, `session_invalidated` has two more members: `supersededAt` (ISO 8601), and `supersededBy` with `network` (IPv4 /24 or IPv6 /48) and `userAgent` (the name of the product, or null).",
  );
}
