import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { TestEvent } from "./event.ts";
import { createOrderWatch, type OrderWatch } from "./order.ts";

const FIRST: TestEvent = { round: 1, sender: 3, number: 1 };
const SECOND: TestEvent = { round: 1, sender: 3, number: 2 };

suite("the order of a sender", () => {
  /** An answered request. Returns its fault. */
  function request(watch: OrderWatch, one: TestEvent, server = 1): string | null {
    const fault = watch.begin(one, server);
    watch.end(one, server, true);
    return fault;
  }

  test("is kept by requests one after the other, with numbers left out", () => {
    const watch = createOrderWatch();
    assert.deepEqual(
      [FIRST, { ...FIRST, number: 3 }, { ...FIRST, round: 2, number: 7 }].map((one) => request(watch, one)),
      [null, null, null],
    );
  });

  test("is kept by an attempt that the next server repeats, with or without an answer before", () => {
    for (const isAnswered of [true, false]) {
      const watch = createOrderWatch();
      watch.begin(FIRST, 1);
      watch.end(FIRST, 1, isAnswered);
      assert.deepEqual([request(watch, FIRST, 2), request(watch, SECOND, 2)], [null, null]);
    }
  });

  test("is kept by the same server if the attempt before had no answer", () => {
    const watch = createOrderWatch();
    watch.begin(FIRST, 1);
    watch.end(FIRST, 1, false);
    assert.equal(request(watch, FIRST), null);
  });

  test("does not depend on other senders", () => {
    const watch = createOrderWatch();
    watch.begin(SECOND, 1);
    assert.equal(request(watch, { ...FIRST, sender: 4 }), null);
  });

  test("is not judged by a request of a killed server that arrives late", () => {
    const watch = createOrderWatch();
    for (const one of [FIRST, SECOND]) request(watch, one, 2);
    assert.equal(watch.begin(FIRST, 1), null);
    assert.equal(request(watch, { ...FIRST, number: 3 }, 2), null);
  });

  test("is broken by an earlier number", () => {
    const watch = createOrderWatch();
    request(watch, SECOND);
    assert.equal(request(watch, FIRST, 2), "r1-s3-1 came after r1-s3-2");
  });

  test("is broken by two requests at once", () => {
    const watch = createOrderWatch();
    watch.begin(FIRST, 1);
    assert.equal(watch.begin(SECOND, 1), "r1-s3-2 came while r1-s3-1 was running");
  });

  test("is broken by the next number before the earlier one has succeeded", () => {
    const watch = createOrderWatch();
    watch.begin(FIRST, 1);
    assert.equal(request(watch, SECOND, 2), "r1-s3-2 came before r1-s3-1 had succeeded");
  });

  test("is broken by the same server if it repeats a success", () => {
    const watch = createOrderWatch();
    request(watch, FIRST);
    assert.equal(request(watch, FIRST), "r1-s3-1 came again after its success");
  });
});
