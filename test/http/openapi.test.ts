import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as v from "valibot";
import { type Endpoint, reply } from "../../src/http/endpoint.ts";
import { openApiOf } from "../../src/http/openapi.ts";

const handler = () => reply(200, {});

const ENDPOINT: Endpoint = {
  method: "GET",
  path: "/things/:id/parts",
  summary: "Lists the parts of a thing.",
  isGuarded: true,
  query: v.object({
    limit: v.optional(v.pipe(v.string(), v.transform(Number), v.number(), v.integer(), v.maxValue(9)), "5"),
    colour: v.optional(v.string()),
  }),
  response: v.object({ items: v.array(v.string()) }),
  problems: ["not_found", "missing_token", "invalid_token"],
  handler,
};

const POST: Endpoint = {
  method: "POST",
  path: "/things",
  summary: "Adds a thing.",
  request: v.object({ name: v.pipe(v.string(), v.minLength(1)) }),
  response: v.string(),
  statuses: [201],
  handler,
};

const FORM: Endpoint = {
  method: "POST",
  path: "/form",
  summary: "Takes a form.",
  needs: "patience",
  request: v.object({ name: v.string() }),
  requestTypes: ["application/x-www-form-urlencoded"],
  response: v.string(),
  statuses: [303, 400],
  mediaTypes: { 400: "text/html" },
  problems: ["validation_failed"],
  handler,
};

// biome-ignore lint/suspicious/noExplicitAny: the members are read as they are expected
const describe = (...endpoints: Endpoint[]) => openApiOf(endpoints, "1.2.3") as any;

suite("the OpenAPI description of endpoints", () => {
  test("has the parameters, answers and errors of each", () => {
    const { paths, openapi, info } = describe(ENDPOINT, POST);
    assert.equal(openapi, "3.1.0");
    assert.equal(info.version, "1.2.3");
    assert.deepEqual(Object.keys(paths), ["/things/{id}/parts", "/things"]);
    assert.deepEqual(Object.keys(describe({ ...POST, path: "/bot:a/things" }).paths), ["/bot:a/things"]);
    const { get } = paths["/things/{id}/parts"];
    assert.deepEqual(
      get.parameters.map((one: { name: string; in: string; required: boolean }) => [one.name, one.in, one.required]),
      [
        ["id", "path", true],
        ["limit", "query", false],
        ["colour", "query", false],
      ],
    );
    assert.deepEqual(Object.keys(get.responses).toSorted(), ["200", "400", "401", "404", "408", "431", "500"]);
    assert.deepEqual(get.responses["401"].content["application/problem+json"].schema.allOf[1], {
      properties: { code: { enum: ["missing_token", "invalid_token"] } },
    });
    assert.deepEqual(get.security, [{ token: [] }, { cookie: [] }]);
    const { post } = paths["/things"];
    assert.deepEqual(post.security, []);
    assert.equal(post.requestBody.content["application/json"].schema.properties.name.minLength, 1);
    assert.deepEqual(Object.keys(post.responses["201"].content), ["text/plain"]);
  });

  test("names each operation once", () => {
    const { paths } = describe(ENDPOINT, POST, { ...POST, path: "/things-" });
    const ids = Object.values<Record<string, { operationId: string }>>(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    assert.deepEqual(ids, ["getThingsIdParts", "postThings", "postThings_2"]);
  });

  test("describes a number in a query as a number", () => {
    const [, limit] = describe(ENDPOINT).paths["/things/{id}/parts"].get.parameters;
    assert.deepEqual(limit.schema, { type: "integer", maximum: 9, default: 5 });
  });

  test("refuses unknown members of JSON only", () => {
    const { paths } = describe(POST, FORM);
    const [json, form] = ["/things", "/form"].map((path) => Object.values(paths[path].post.requestBody.content)[0]);
    assert.equal((json as { schema: { additionalProperties?: boolean } }).schema.additionalProperties, false);
    assert.equal("additionalProperties" in (form as { schema: object }).schema, false);
  });

  test("has the media types of texts, also of one that shares its status with an error", () => {
    const { post } = describe(FORM).paths["/form"];
    assert.equal(post.description, "Needs patience.");
    assert.deepEqual(Object.keys(post.requestBody.content), ["application/x-www-form-urlencoded"]);
    assert.deepEqual(Object.keys(post.responses["303"].content), ["text/plain"]);
    assert.deepEqual(Object.keys(post.responses["400"].content), ["text/html", "application/problem+json"]);
  });

  test("has a text beside the usual body, and the statuses of errors that an endpoint changes", () => {
    const { get } = describe({ ...ENDPOINT, otherType: "text/plain", problemStatuses: { not_found: 410 } }).paths[
      "/things/{id}/parts"
    ];
    assert.deepEqual(Object.keys(get.responses["200"].content), ["application/json", "text/plain"]);
    assert.deepEqual(Object.keys(get.responses).toSorted(), ["200", "400", "401", "408", "410", "431", "500"]);
  });

  test("has text for every status of an endpoint without bodies", () => {
    const { responses } = describe({ ...ENDPOINT, isBodiless: true }).paths["/things/{id}/parts"].get;
    for (const { content } of Object.values<{ content: object }>(responses)) assert.ok("text/plain" in content);
  });

  test("names no parameter of a query that may have any", () => {
    const { get } = describe({ ...ENDPOINT, path: "/any", query: v.record(v.string(), v.string()) }).paths["/any"];
    assert.equal(get.parameters, undefined);
  });

  test("describes an endpoint of every method once, and says so", () => {
    const { paths } = describe({ ...ENDPOINT, method: "*" });
    assert.deepEqual(Object.keys(paths["/things/{id}/parts"]), ["get"]);
    assert.equal(paths["/things/{id}/parts"].get["x-every-method"], true);
  });
});
