import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { needsGo, needsPython } from "../helpers/back-end.ts";
import { deliver, event } from "../helpers/client.ts";
import { runProgram } from "../helpers/command.ts";
import { startServer } from "../helpers/server.ts";
import { type Received, startTarget } from "../helpers/target.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";

const PAGE = new URL("../../docs/what-your-app-gets.md", import.meta.url);
const TEXT_SECRET = "a secret of the app";
const ENCODED_SECRET = `whsec_${Buffer.from("0123456789abcdef01234567").toString("base64")}`;

/** The example of a language in the documentation. */
function exampleIn(language: string): string {
  const [, code] =
    new RegExp(`^\`\`\`${language}\\n([^\`]+(?:\`[^\`]+)*?)^\`\`\`$`, "m").exec(readFileSync(PAGE, "utf8")) ?? [];
  assert.ok(code);
  assert.ok(code.trimEnd().split("\n").length <= 15, `${language} has at most 15 lines`);
  return code;
}

interface Case {
  headers: Record<string, string>;
  body: string;
  secret: string;
  isGenuine: boolean;
}

suite("the examples that verify what an app gets", () => {
  const cases: Case[] = [];

  /** What a server sends to an app with this secret. */
  async function forwarded(secret: string): Promise<Received> {
    await using target = await startTarget();
    await using server = await startServer({ env: { FORWARD_URL: target.url, FORWARD_SECRET: secret } });
    await deliver(server, event("evt_1", { note: "ñ" }));
    return await until(() => target.received[0]);
  }

  before(async () => {
    for (const secret of [TEXT_SECRET, ENCODED_SECRET]) {
      const { headers: all, body: bytes } = await forwarded(secret);
      const headers = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]));
      const body = bytes.toString();
      const old = { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) - 600) };
      cases.push(
        { headers, body, secret, isGenuine: true },
        {
          headers: { ...headers, "webhook-signature": `v1,AAAA ${headers["webhook-signature"]}` },
          body,
          secret,
          isGenuine: true,
        },
        { headers, body: `${body} `, secret, isGenuine: false },
        { headers, body, secret: secret.replace(/.{4}$/, "AAAA"), isGenuine: false },
        { headers: old, body, secret, isGenuine: false },
        { headers: {}, body, secret, isGenuine: false },
      );
    }
  });
  after(() => assert.equal(cases.length, 12));

  const expected = () => cases.map(({ isGenuine }) => isGenuine);

  async function results(t: TestContext, files: Record<string, string>, command: string[]): Promise<unknown> {
    const dir = tempDir(t);
    writeFileSync(join(dir, "cases.json"), JSON.stringify(cases));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
    const [program = "", ...args] = command;
    mkdirSync(join(dir, "cache"));
    const env = { PATH: process.env.PATH, HOME: dir, GOCACHE: join(dir, "cache"), GOFLAGS: "-mod=mod" };
    const { code, stdout, stderr } = await runProgram(program, args, { dir, env });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  }

  test("run in Node", async (t) => {
    const file = join(tempDir(t), "verify.mjs");
    writeFileSync(file, exampleIn("js"));
    const { isGenuine } = await import(pathToFileURL(file).href);
    const found = cases.map(({ headers, body, secret }) => isGenuine(headers, Buffer.from(body), secret));
    assert.deepEqual(found, expected());
  });

  test("run in Python", needsPython(), async (t) => {
    const main = `import json, verify
print(json.dumps([verify.is_genuine(c["headers"], c["body"].encode(), c["secret"]) for c in json.load(open("cases.json"))]))`;
    const found = await results(t, { "verify.py": exampleIn("python"), "main.py": main }, ["python3", "main.py"]);
    assert.deepEqual(found, expected());
  });

  test("run in Go", needsGo(), async (t) => {
    const packages = ["crypto/hmac", "crypto/sha256", "encoding/base64", "net/http", "strconv", "strings", "time"];
    const verify = `package main\nimport (\n${packages.map((name) => `"${name}"`).join("\n")}\n)\n${exampleIn("go")}`;
    const main = `package main
import ("encoding/json"; "net/http"; "os")
func main() {
	var cases []struct { Headers map[string]string; Body, Secret string }
	text, _ := os.ReadFile("cases.json")
	if err := json.Unmarshal(text, &cases); err != nil { panic(err) }
	found := []bool{}
	for _, one := range cases {
		headers := http.Header{}
		for name, value := range one.Headers { headers.Set(name, value) }
		found = append(found, IsGenuine(headers, []byte(one.Body), one.Secret))
	}
	json.NewEncoder(os.Stdout).Encode(found)
}`;
    const files = { "verify.go": verify, "main.go": main, "go.mod": "module example\n\ngo 1.19\n" };
    assert.deepEqual(await results(t, files, ["go", "run", "."]), expected());
  });
});
