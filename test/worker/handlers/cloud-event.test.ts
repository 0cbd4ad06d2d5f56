import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { cloudEventBody, cloudEventHeaders } from "../../../src/worker/handlers/cloud-event.ts";
import { claimedJob } from "../../helpers/job.ts";

suite("an event of CloudEvents", () => {
  test("keeps the digits and the spaces of a payload of JSON", () => {
    const body = String(cloudEventBody(claimedJob({ payload: Buffer.from('{ "n": 12345678901234567890 }') })));
    assert.match(body, /^\{"specversion":"1\.0","id":"evt_1",.*,"data":\{ "n": 12345678901234567890 \}\}$/);
  });

  test("has a payload that is no JSON in base64, whatever its type says", () => {
    assert.match(String(cloudEventBody(claimedJob({ payload: Buffer.from("{") }))), /,"data_base64":"ew=="\}$/);
  });

  test("has attributes in headers percent-encoded", () => {
    const headers = cloudEventHeaders(claimedJob({ eventId: 'a "b" %ñ€😀' }));
    assert.equal(headers["ce-id"], "a%20%22b%22%20%25%C3%B1%E2%82%AC%F0%9F%98%80");
  });
});
