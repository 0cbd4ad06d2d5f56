import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { suite, test } from "node:test";
import { bodyOf, headersOf } from "../../src/worker/handlers/http-headers.ts";
import type { HttpTarget } from "../../src/worker/route.ts";
import { needs } from "../helpers/back-end.ts";
import { claimedJob } from "../helpers/job.ts";
import { isInstalled } from "./delivery.ts";

/** What the package cloudevents makes of a message. */
interface CloudEvent {
  specversion: string;
  id: string;
  source: string;
  type: string;
  time?: string;
  datacontenttype?: string;
  data?: unknown;
  data_base64?: string;
  validate(): boolean;
}

const require = createRequire(import.meta.url);
const needsPackages = () =>
  needs("the package cloudevents", isInstalled, "it is not installed (npm ci --prefix test/providers)");

/** The event that the package reads from what a target gets. */
function received(body: NonNullable<HttpTarget["body"]>, job: Parameters<typeof claimedJob>[0]): CloudEvent {
  const claimed = claimedJob({ source: "shop", receivedAt: 0, ...job });
  const sent = bodyOf(claimed, { body });
  const headers = Object.entries(headersOf(claimed, sent, { key: null, body }, 0));
  const lower = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), String(value)]));
  return require("cloudevents").HTTP.toEvent({ headers: lower, body: Buffer.from(sent ?? "").toString() });
}

for (const form of ["cloudevents-structured", "cloudevents-binary"] as const) {
  suite(`the package cloudevents reads ${form}`, needsPackages(), () => {
    test("with its attributes and data of JSON", () => {
      const event = received(form, { payload: Buffer.from('{"a":[1,"ñ"]}') });
      assert.ok(event.validate());
      const { specversion, id, source, type, time, datacontenttype, data } = event;
      assert.deepEqual(
        { specversion, id, source, type, time, datacontenttype, data },
        {
          specversion: "1.0",
          id: "evt_1",
          source: "shop",
          type: "push",
          time: "1970-01-01T00:00:00.000Z",
          datacontenttype: "application/json",
          data: { a: [1, "ñ"] },
        },
      );
    });

    test("with data of text", () => {
      const event = received(form, { payload: Buffer.from("ñ"), contentType: "text/plain" });
      assert.deepEqual([event.datacontenttype, event.data], ["text/plain", "ñ"]);
    });
  });
}

test("the package cloudevents reads other bytes of the structured form", needsPackages(), () => {
  const event = received("cloudevents-structured", { payload: Buffer.from([0xff]), contentType: "image/png" });
  assert.equal(event.data_base64, "/w==");
});
