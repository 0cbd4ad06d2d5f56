import assert from "node:assert/strict";
import { suite, test } from "node:test";
import es from "../../../src/admin/page/texts/es.json" with { type: "json" };
import { serverTexts } from "../../../src/admin/page/texts/server-texts.ts";
import { ALERTS } from "../../../src/alerts/alert.ts";
import type { Untaken } from "../../../src/events/untaken.ts";

const { serverText: spanishOf, alertText: spanishAlert } = serverTexts(es);

suite("what the server has written", () => {
  test("is shown in Spanish, also within a reason", () => {
    assert.equal(spanishOf("the target answered 503"), "el destino respondió 503");
    assert.equal(spanishOf("attempt 2 of 3: the target answered 503"), "intento 2 de 3: el destino respondió 503");
    assert.equal(
      spanishOf("attempt 1, giveUpOn: the target answered 422"),
      "intento 1, giveUpOn: el destino respondió 422",
    );
  });

  test("names the token that expires", () => {
    const summary = spanishAlert("AuthserveTokenExpiring", "the token backup expires in 6 days");
    assert.equal(summary, "el token backup caduca en 6 días");
  });

  test("says what a member of a request must be", () => {
    assert.equal(spanishOf("must not be empty"), "no puede estar vacío");
    assert.equal(spanishOf("must be one or more of verify, metrics"), "debe tener uno o más de verify, metrics");
    assert.equal(spanishOf("must have 1 to 64 small letters, digits and -, e.g. backup").slice(0, 10), "debe tener");
  });

  test("keeps a text of a handler", () => {
    assert.equal(spanishOf("no such customer: cus_1"), "no such customer: cus_1");
  });

  test("says why an event was not taken, for every reason", () => {
    const reasons: Record<Untaken, string> = es.serverTexts;
    assert.equal(reasons["is already queued"], "ya está en cola");
  });

  test("has a meaning for every alert", () => {
    for (const name of Object.keys(ALERTS)) assert.notEqual(spanishAlert(name, "?"), "?", name);
  });

  test("says in Spanish what an alert means whose text is not known", () => {
    assert.equal(spanishAlert("AuthserveDeadLetters", "something else"), "hay trabajos fallidos");
    assert.equal(
      spanishAlert("AuthserveDeadLetters", "jobs are in the dead letters: 2 of the route a, 1 of the route b"),
      "hay trabajos fallidos: 2 de la ruta a, 1 de la ruta b",
    );
  });
});
