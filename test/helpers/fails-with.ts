import assert from "node:assert/strict";
import { AppError, type ErrorCode } from "../../src/errors.ts";

/** Asserts that a promise rejects with an {@link AppError} of this code, and returns it. */
export async function failsWith(code: ErrorCode, promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => assert.fail(`resolved instead of failing with ${code}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AppError, `failed with ${String(error)} instead of ${code}`);
  assert.equal(error.code, code);
  return error;
}

/** The same for a function that throws. */
export function throwsCode(code: ErrorCode, run: () => unknown): AppError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof AppError, `threw ${String(error)} instead of ${code}`);
    assert.equal(error.code, code);
    return error;
  }
  assert.fail(`returned instead of throwing ${code}`);
}
