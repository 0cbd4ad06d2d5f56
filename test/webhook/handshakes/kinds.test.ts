import assert from "node:assert/strict";
import { test } from "node:test";
import { handshakeOf } from "../../../src/webhook/handshakes/kinds.ts";
import { allProviders } from "../../../src/webhook/providers/index.ts";

test("the handshake of each provider is found by its kind", () => {
  for (const [name, { handshake }] of allProviders())
    if (handshake) assert.equal(handshakeOf({ kind: handshake.kind }), handshake, name);
});
