import { test } from "node:test";
import { needsRedis } from "../helpers/back-end.ts";

const options = needsRedis();
if (options.skip) test("the session store on Redis", options, () => {});
else await import("./sessions.cases.ts");
