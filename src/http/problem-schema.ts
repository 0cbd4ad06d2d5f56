/** The JSON Schema of a problem (RFC 9457). */
export const PROBLEM_SCHEMA = {
  type: "object",
  description: "An error (RFC 9457).",
  required: ["type", "title", "status", "detail", "code", "requestId"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", description: "Stable, for programs." },
    requestId: { type: "string" },
    errors: {
      type: "array",
      description: "The faults of a body or a query.",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: { path: { type: "string" }, message: { type: "string" } },
      },
    },
    supersededAt: {
      type: "string",
      format: "date-time",
      description: "When a login replaced the session. Only `session_invalidated` has it.",
    },
    supersededBy: {
      type: "object",
      description: "Where that login came from.",
      required: ["network", "userAgent"],
      properties: { network: { type: "string" }, userAgent: { type: ["string", "null"] } },
    },
  },
};
