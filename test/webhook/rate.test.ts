import assert from "node:assert/strict";
import { test } from "node:test";
import { SECRET, servedSource } from "../helpers/serve-source.ts";

test("the rate of a source counts the deliveries of all its methods and paths together", async (context) => {
  const { url } = await servedSource(context, {
    rate: { perSecond: 2 / 3600, seconds: 3600 },
    methods: ["POST", "PUT"],
    schemes: [
      { type: "token", header: "authorization" },
      { type: "token", path: true },
    ] as never,
  });
  const headers = { Authorization: SECRET, "Content-Type": "application/json" };
  const send = async (method: string, to: string) => (await fetch(to, { method, headers, body: "{}" })).status;
  const inPath = `${url}/${encodeURIComponent(SECRET)}`;
  assert.deepEqual(
    [await send("POST", url), await send("PUT", inPath), await send("PUT", url), await send("POST", inPath)],
    [200, 200, 429, 429],
  );
});
