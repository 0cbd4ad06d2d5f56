import { test } from "node:test";
import { needsRedis } from "../../helpers/back-end.ts";

const options = needsRedis();
if (options.skip) test("S session semantics with two processes on one Redis", options, () => {});
else await import("./s-redis.cases.ts");
