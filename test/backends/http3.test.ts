import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import type { Page } from "playwright-core";
import { needsAll, needsChromium } from "../helpers/back-end.ts";
import { fillIn, openChromium, openProfile } from "../helpers/browser.ts";
import { type Echo, sha256 } from "../helpers/echo-app.ts";
import { GENUINE, PROXIES, startSite, userHeaders } from "../helpers/protected-app.ts";
import type { Edit, ProxyName } from "../helpers/proxy.ts";
import { pairNamed } from "../helpers/tls.ts";

/** What a program says about how it was built. */
function buildOf(program: string, arg: string): string {
  const { stdout, stderr } = spawnSync(program, [arg], { encoding: "utf8" });
  return stdout + stderr;
}

// Each proxy, the lines that docs/protect-an-app.md names for HTTP/3, and whether this build has it.
const HTTP3: Record<ProxyName, { edit: Edit; isThere: () => boolean }> = {
  nginx: {
    edit: (text) =>
      text.replace(
        "    listen 443 ssl http2;\n",
        `$&    listen 443 quic reuseport;\n    add_header Alt-Svc 'h3=":443"; ma=86400' always;\n`,
      ),
    isThere: () => buildOf("nginx", "-V").includes("http_v3_module"),
  },
  caddy: { edit: (text) => text, isThere: () => true },
  haproxy: {
    edit: (text) =>
      text
        .replace("global\n", "$&    limited-quic\n")
        .replace(
          "    http-request redirect scheme",
          `    bind quic4@:443 ssl crt /etc/haproxy/certs/ alpn h3\n    http-response set-header Alt-Svc 'h3=":443"; ma=86400'\n$&`,
        ),
    isThere: () => buildOf("haproxy", "-vv").includes("+QUIC"),
  },
};

/** `.ci/proxy-versions` runs the tests of builds that have HTTP/3, and fails when one is skipped. */
const needsHttp3 = (name: ProxyName) => ({
  skip: !HTTP3[name].isThere() && `HTTP/3 of ${name} did not run: this build has none (Debian 13's has it)`,
});

// Over QUIC, Chromium believes a certificate of no authority only by the hash of its key.
const { publicKey } = new X509Certificate(readFileSync(pairNamed("first").cert));
const KEY_HASH = createHash("sha256")
  .update(publicKey.export({ type: "spki", format: "der" }))
  .digest("base64");

const protocolOf = (page: Page) =>
  page.evaluate<string>("performance.getEntriesByType('navigation')[0].nextHopProtocol");

const UPLOAD_BYTES = 5 * 1024 * 1024;

suite("an app over HTTP/3", () => {
  for (const [name, needsProxy] of PROXIES) {
    test(`behind ${name} leads back to a whole link after the login, and gets uploads of a browser`, {
      ...needsAll(needsProxy(), needsChromium(), needsHttp3(name)),
    }, async () => {
      await using site = await startSite(name, {}, HTTP3[name].edit);
      const { port } = site.proxy;
      await using browser = await openChromium([
        `--origin-to-force-quic-on=app.example.com:${port}`,
        `--host-resolver-rules=MAP app.example.com 127.0.0.1, MAP auth.example.com 127.0.0.1:${port}`,
        `--ignore-certificate-errors-spki-list=${KEY_HASH}`,
      ]);
      await using profile = await openProfile(browser);
      const page = await profile.newPage();
      const deep = `https://app.example.com:${port}/deep?a=1&b=%26#/deep/link`;

      await page.goto(deep);
      assert.equal(new URL(page.url()).host, "auth.example.com");
      assert.equal(site.app.received.length, 0);
      await fillIn(page);
      assert.deepEqual([page.url(), await protocolOf(page)], [deep, "h3"]);
      const echo = JSON.parse(String(await page.textContent("body"))) as Echo;
      assert.deepEqual([echo.url, userHeaders(echo)], ["/deep?a=1&b=%26", GENUINE]);
      const host = echo.headers.find(([header]) => /^host$/i.test(header))?.[1];
      assert.equal(host, `app.example.com:${port}`);

      const script = `fetch("/upload", { method: "POST", body: "x".repeat(${UPLOAD_BYTES}) }).then((answer) => answer.json())`;
      const upload = await page.evaluate<Echo>(script);
      assert.deepEqual([upload.bodyBytes, upload.bodySha256], [UPLOAD_BYTES, sha256("x".repeat(UPLOAD_BYTES))]);
      assert.deepEqual(userHeaders(upload), GENUINE);
      const used = `performance.getEntriesByType("resource").find(({ name }) => name.endsWith("/upload")).nextHopProtocol`;
      assert.equal(await page.evaluate(used), "h3");
    });
  }
});
