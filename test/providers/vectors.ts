/** Writes `test/fixtures/provider-vectors.json`: `npm ci` in this folder, then `node test/providers/vectors.ts`. */
import { writeFileSync } from "node:fs";
import { FIXTURE, fixedVectors } from "./providers.ts";

const vectors = await fixedVectors();
writeFileSync(FIXTURE, `${JSON.stringify(vectors, null, 2)}\n`);
for (const { preset, by, how } of vectors) process.stdout.write(`${preset}\t${by}\t${how}\n`);
