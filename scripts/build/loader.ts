/**
 * The beginning of the executable's code, and of each of its threads: `loadChunk` runs a chunk of `bundle.ts`, an asset
 * of the executable, when it is first required.
 */
export const LOADER = `"use strict";
const { getRawAsset } = require("node:sea");
const { compileFunction, constants } = require("node:vm");
const loaded = new Map();
function loadChunk(name) {
  if (!name.startsWith("./")) return require(name);
  const known = loaded.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  loaded.set(name, module);
  const filename = name.slice(2);
  // Chunks are ASCII. getAsset would copy and decode each of them, which takes longer than compiling it.
  const code = Buffer.from(getRawAsset(filename)).latin1Slice();
  const options = { filename, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };
  compileFunction(code, ["exports", "require", "module"], options)(module.exports, loadChunk, module);
  return module.exports;
}
`;
