import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { formatMultipart } from "../../../src/lib/multipart.ts";
import { noteOn } from "../../../src/webhook/provider-description.ts";
import { sampleOf } from "../../../src/webhook/samples/index.ts";
import { providerNamed } from "../../helpers/providers.ts";
import { serveSource } from "../../helpers/serve-source.ts";

const SECRET = encodeURIComponent("a secret of the tests");
const IN_URL = ["docker_hub", "gumroad", "mailchimp", "plex"];

suite("a provider that signs nothing", () => {
  for (const slug of IN_URL) {
    test(`is protected by the secret in the URL, as ${slug}`, async (t) => {
      const { send, stored, lines } = await serveSource(t, `{ preset: ${slug}, secrets: [env:SECRET] }`);
      const { body, contentType } = sampleOf(slug, { now: Date.now() });
      const delivery = { method: "POST", body, headers: { "Content-Type": contentType } };
      assert.equal((await send(delivery, `?token=${SECRET}`)).status, 200);
      assert.equal((await send(delivery, `/${SECRET}`)).status, 200);
      assert.equal(stored.length, 2);
      for (const other of ["", "?token=another", "/another"]) assert.equal((await send(delivery, other)).status, 403);
      assert.doesNotMatch(JSON.stringify(lines), /a(?: |%20|\+)secret/);
    });
  }

  test("is said to be unprotected otherwise", () => {
    for (const slug of IN_URL) {
      const { title, covers, schemes } = providerNamed(slug);
      assert.match(title, / \(signs nothing\)$/);
      assert.equal(covers, "none");
      assert.equal(noteOn(schemes), "It signs nothing. Only the secret in the URL protects it.");
    }
    assert.match(noteOn(providerNamed("kofi").schemes) ?? "", /Only the secret in each delivery protects it/);
    assert.equal(noteOn(providerNamed("gitlab").schemes), null);
  });
});

test("an event of Plex has the type in its JSON, whatever picture comes with it", async (t) => {
  const { send, stored } = await serveSource(t, "{ preset: plex, secrets: [env:SECRET] }");
  const body =
    formatMultipart([["payload", '{"event":"media.play"}']], "b").slice(0, -"--b--\r\n".length) +
    '--b\r\nContent-Disposition: form-data; name="thumb"; filename="thumb.jpg"\r\n\r\n\x01\x02\r\n--b--\r\n';
  const delivery = { method: "POST", body, headers: { "Content-Type": "multipart/form-data; boundary=b" } };
  await send(delivery, `?token=${SECRET}`);
  assert.equal(stored[0]?.type, "media.play");
  assert.equal(Buffer.from(stored[0]?.payload ?? []).toString(), body);
});

test("Mailchimp's check of the URL by GET is answered, with the secret in the query or in the path", async (t) => {
  const { send, stored } = await serveSource(t, "{ preset: mailchimp, secrets: [env:SECRET], handshake: true }");
  for (const address of ["", `?token=${SECRET}`, `/${SECRET}`]) assert.equal((await send({}, address)).status, 200);
  assert.equal(stored.length, 0);
});

test("Ko-fi's token is in the JSON in its form, and the message id tells repeats", async (t) => {
  const { send, stored } = await serveSource(t, "{ preset: kofi, secrets: [env:SECRET] }");
  const donated = (token: string) => ({
    method: "POST",
    body: new URLSearchParams({
      data: JSON.stringify({ verification_token: token, message_id: "m1", type: "Donation" }),
    }),
  });
  assert.equal((await send(donated("a secret of the tests"))).status, 200);
  assert.deepEqual([stored[0]?.eventId, stored[0]?.type], ["m1", "Donation"]);
  assert.equal((await send(donated("another"))).status, 403);
});
