import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { suite, test } from "node:test";
import { curlCommand } from "../../../src/admin/page/curl.ts";

const URL = "https://example.com/webhook";

/** The words that bash makes of a command. */
function wordsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const { stdout, status } = spawnSync("bash", ["-c", script], { encoding: "utf8", env: { LC_ALL: "C.UTF-8" } });
  assert.equal(status, 0);
  return stdout.split("\0").slice(0, -1);
}

suite("the curl command of a payload", () => {
  for (const [what, payload] of [
    ["JSON", '{"order":"1001","note":"it\'s"}'],
    ["quotes and backslashes only", "'\\''\\"],
    ["line ends", "a\r\nb\n"],
    ["control characters and quotes", "it's\u001b[201~ \\n $HOME `id`"],
    ["an expansion", "$(id) $HOME !!"],
    ["the name of a file", "@/etc/passwd"],
    ["letters beyond ASCII", "Núñez 🎉\u0085"],
    ["nothing", ""],
  ] as const) {
    test(`sends a payload with ${what} unchanged`, () => {
      const command = curlCommand({ url: URL, payload, contentType: "application/json" });
      assert.ok(command);
      const words = [URL, "-H", "Content-Type: application/json", "--data-raw", payload];
      assert.deepEqual(wordsOf(command), words);
    });
  }

  test("has no control character that a terminal would take as a key", () => {
    const command = curlCommand({
      url: URL,
      payload: "\u001b[201~\nrm -rf ~\r\u0007",
      contentType: "text/\u001bplain",
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    assert.doesNotMatch((command ?? "").replaceAll(" \\\n", ""), /[\u0000-\u001f\u007f-\u009f]/);
  });

  test("does not exist for a payload with a NUL", () => {
    assert.equal(curlCommand({ url: URL, payload: "a\0b", contentType: "text/plain" }), null);
  });

  test("does not exist for a payload that is not UTF-8", () => {
    assert.equal(curlCommand({ url: URL, payload: "\ufffd", payloadBase64: "/w==", contentType: "text/plain" }), null);
  });
});
