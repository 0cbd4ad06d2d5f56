import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { binaryType, cloudEventBody, cloudEventHeaders } from "../../../src/worker/handlers/cloud-event.ts";
import { claimedJob } from "../../helpers/job.ts";

suite("an event of CloudEvents", () => {
  test("keeps the digits and the spaces of a payload of JSON", () => {
    const body = String(cloudEventBody(claimedJob({ payload: Buffer.from('{ "n": 12345678901234567890 }') })));
    assert.match(body, /^\{"specversion":"1\.0","id":"evt_1",.*,"data":\{ "n": 12345678901234567890 \}\}$/);
  });

  test("has a payload that is no JSON in base64, whatever its type says", () => {
    assert.match(String(cloudEventBody(claimedJob({ payload: Buffer.from("{") }))), /,"data_base64":"ew=="\}$/);
  });

  test("has neither data nor its type if the delivery had none", () => {
    const body = JSON.parse(String(cloudEventBody(claimedJob({ payload: Buffer.alloc(0), contentType: "" }))));
    assert.deepEqual(Object.keys(body), ["specversion", "id", "source", "type", "time"]);
  });

  // https://github.com/cloudevents/sdk-javascript/blob/v10.0.0/src/message/http/index.ts reads the mode in the type.
  test("whose payload is one is not taken for it in the binary mode", () => {
    for (const type of ["application/cloudevents+json; charset=utf-8", "application/cloudevents-batch+json"])
      assert.equal(binaryType(type), "application/json");
    assert.equal(binaryType("application/json; charset=utf-8"), "application/json; charset=utf-8");
  });

  test("has attributes in headers percent-encoded", () => {
    const headers = cloudEventHeaders(claimedJob({ eventId: 'a "b" %ñ€😀' }));
    assert.equal(headers["ce-id"], "a%20%22b%22%20%25%C3%B1%E2%82%AC%F0%9F%98%80");
  });
});
