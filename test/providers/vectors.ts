/**
 * Writes `test/fixtures/provider-vectors.json`: `npm ci` in this folder, `node test/providers/vectors.ts`, `npm run
 * format`.
 */
import { writeFileSync } from "node:fs";
import { FIXTURE, fixedVectors } from "./providers.ts";

const vectors = await fixedVectors();
writeFileSync(FIXTURE, `${JSON.stringify(vectors, null, 2)}\n`);
for (const { preset, by, how } of vectors) process.stdout.write(`${preset}\t${by}\t${how}\n`);
