import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");
const MAX_COLUMNS = 120;
const MAX_WORDS = 25;

interface Comment {
  /** `FILE:LINE`, of its first line. */
  place: string;
  lines: string[];
}

/** What is not prose: a picture, a table, an item of a list, and the words for tools. */
const NO_PROSE = /^(?:\||[-*] |[┌├└│]|biome-ignore|@)|https?:\/\//;

const COMMENT = /^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/.*(?:\n[ \t]*\/\/.*)*)/gm;

/** The comments of a file: a block, or lines that follow each other. Only those that begin a line are found. */
function commentsOf(file: string): Comment[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(COMMENT)].map(({ 0: comment, index }) => ({
    place: `${file}:${text.slice(0, index).split("\n").length}`,
    lines: comment.split("\n"),
  }));
}

/** The text of a line. What is indented is no prose. */
const textOf = (line: string) =>
  line
    .trim()
    .replace(/^(?:\/\/+|\/\*+|\*(?!\/))\s?/, "")
    .replace(/\s*\*\/$/, "")
    .replace(/^\s.*/, "")
    .trim();

/** The sentences of a comment, without what is no prose. */
const sentencesOf = ({ lines }: Comment) =>
  lines
    .map(textOf)
    .map((line) => (NO_PROSE.test(line) || line === "" ? "." : line))
    .join(" ")
    .split(/(?<=[.:;?!][)"`]?)\s+/);

const wordsOf = (sentence: string) => sentence.split(/\s+/).filter((word) => /\p{L}|\p{N}/u.test(word)).length;

const comments = ["src", "test", "bench", "scripts"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/node_modules|^peers|^openapi\/program/.test(name))
    .flatMap((name) => commentsOf(`${folder}/${name}`)),
);

test("a comment is at most 120 columns wide", () => {
  const wide = comments.filter(({ lines }) =>
    lines.some((line) => line.length > MAX_COLUMNS && !/https?:\/\//.test(line)),
  );
  assert.deepEqual(
    wide.map(({ place }) => place),
    [],
  );
});

test("a sentence of a comment has at most 25 words", () => {
  const long = comments.flatMap((comment) =>
    sentencesOf(comment)
      .filter((sentence) => wordsOf(sentence) > MAX_WORDS)
      .map((sentence) => `${comment.place} (${wordsOf(sentence)}): ${sentence}`),
  );
  assert.deepEqual(long, []);
});
