import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, suite, test } from "node:test";
import { startThread } from "../../../src/platform/checkout.ts";
import { jsonOf } from "../../../src/webhook/content/stored-content.ts";
import { transformed } from "../../../src/worker/transform/handler.ts";
import { startThreadEvaluator } from "../../../src/worker/transform/thread-evaluator.ts";
import { createTransformer } from "../../../src/worker/transform/transformer.ts";
import { claimedJob } from "../../helpers/job.ts";

const RECIPE = /- name: ([\w-]+).*\n +transform: \{ jsonata: "(.*)" \}/g;
const RECIPES = readFileSync("docs/routes.md", "utf8").matchAll(RECIPE);
const MANY = `[${Array(97_000).fill(1).join()}]`;
const PAYMENT = '{"state":"on","data":{"amount":5}}';

const transformer = createTransformer(() => startThreadEvaluator((options) => startThread("transform", options)));
after(() => transformer.close());

suite("the documented transformation", () => {
  for (const [, name, expression = ""] of RECIPES) {
    test(`for ${name} gives JSON or text, and is within its bounds for a long list`, async () => {
      const made = async (payload: string) =>
        transformed(
          claimedJob({ payload: Buffer.from(payload) }),
          expression,
          { transformer, jsonOf },
          new AbortController().signal,
        );
      assert.doesNotMatch(Buffer.from((await made(PAYMENT)).payload).toString(), /\{\}/);
      await made(MANY);
    });
  }
});
