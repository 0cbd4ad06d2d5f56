import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as v from "valibot";
import { openApiOf } from "../../src/http/openapi.ts";
import { type Route, reply } from "../../src/http/route.ts";

const handler = () => reply(200, {});

const ROUTE: Route = {
  method: "GET",
  path: "/things/:id/parts",
  summary: "Lists the parts of a thing.",
  isGuarded: true,
  query: v.object({ limit: v.optional(v.pipe(v.string(), v.transform(Number))), colour: v.optional(v.string()) }),
  response: v.object({ items: v.array(v.string()) }),
  problems: ["not_found", "missing_token", "invalid_token"],
  handler,
};

const POST: Route = {
  method: "POST",
  path: "/things",
  summary: "Adds a thing.",
  request: v.object({ name: v.pipe(v.string(), v.minLength(1)) }),
  response: v.string(),
  statuses: [201],
  handler,
};

suite("the OpenAPI description of routes", () => {
  test("has the parameters, answers and errors of each", () => {
    // biome-ignore lint/suspicious/noExplicitAny: the members are read as they are expected
    const { paths, openapi, info } = openApiOf([ROUTE, POST], "1.2.3") as any;
    assert.equal(openapi, "3.1.0");
    assert.equal(info.version, "1.2.3");
    assert.deepEqual(Object.keys(paths), ["/things/{id}/parts", "/things"]);
    const { get } = paths["/things/{id}/parts"];
    assert.deepEqual(
      get.parameters.map((one: { name: string; in: string; required: boolean }) => [one.name, one.in, one.required]),
      [
        ["id", "path", true],
        ["limit", "query", false],
        ["colour", "query", false],
      ],
    );
    assert.deepEqual(Object.keys(get.responses).toSorted(), ["200", "401", "404", "500"]);
    assert.deepEqual(get.responses["401"].content["application/problem+json"].schema.allOf[1], {
      properties: { code: { enum: ["missing_token", "invalid_token"] } },
    });
    assert.deepEqual(get.security, [{ token: [] }]);
    const { post } = paths["/things"];
    assert.equal(post.security, undefined);
    assert.equal(post.requestBody.content["application/json"].schema.properties.name.minLength, 1);
    assert.deepEqual(Object.keys(post.responses["201"].content), ["text/plain"]);
  });

  test("names each operation once", () => {
    const { paths } = openApiOf([ROUTE, POST], "1") as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const ids = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
    assert.deepEqual(ids, ["getThingsIdParts", "postThings"]);
  });
});
