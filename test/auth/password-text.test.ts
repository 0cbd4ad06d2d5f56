import assert from "node:assert/strict";
import { test } from "node:test";
import { passwordFault } from "../../src/auth/password.ts";

test("a password has 6 to 1024 characters, counted in its canonical form", () => {
  for (const password of ["123456", "ñandú!", "ñ".repeat(1024), "ñ".repeat(1024).normalize("NFD"), "💧".repeat(1024)]) {
    assert.equal(passwordFault(password), null, password.slice(0, 10));
  }
  for (const password of ["", "12345", "n\u0303".repeat(5)]) {
    assert.equal(passwordFault(password), "must have at least 6 characters");
  }
  for (const password of ["x".repeat(1025), "n\u0303".repeat(1025), "x".repeat(16_000)]) {
    assert.equal(passwordFault(password), "must have at most 1024 characters");
  }
  assert.equal(passwordFault("lone \ud800 half"), "must be well-formed Unicode");
});

test("a password whose normalization would take a tenth of a second is refused without it", () => {
  const [above, below] = ["\u0301", "\u0316"];
  for (const marks of [above.repeat(500) + below.repeat(500), (above + below).repeat(2000)]) {
    assert.equal(passwordFault(`a${marks}`), "must have at most 64 combining marks in a row");
  }
  assert.equal(passwordFault(`a${above.repeat(4070)}${below.repeat(4070)}`), "must have at most 1024 characters");
  assert.equal(passwordFault(`password${above.repeat(64)}`), null);
});

test("canonically equal forms of a password are all accepted or all refused", () => {
  for (const [marks, fault] of [
    [32, null],
    [33, "must have at most 64 combining marks in a row"],
  ] as const) {
    const password = `password${"\u0344".repeat(marks)}`;
    assert.equal(passwordFault(password), fault);
    assert.equal(passwordFault(password.normalize("NFC")), fault);
  }
});
