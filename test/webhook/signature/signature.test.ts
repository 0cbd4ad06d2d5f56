import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { openContent } from "../../../src/webhook/content/content.ts";
import { DEFAULT_SCHEMES } from "../../../src/webhook/default-source.ts";
import { providerOf } from "../../../src/webhook/providers/index.ts";
import { createVerifier } from "../../../src/webhook/signature/signature.ts";
import { growsLinearly } from "../../helpers/growth.ts";
import { secretOf } from "../../helpers/secret.ts";

const NOW = 1_800_000_000;
const SECRET = "It's a secret to everybody";
const WHSEC = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;
const BODIES = {
  ASCII: '{"id":"evt_1","type":"push"}',
  "non-ASCII": '{"name":"José Ñandú","mood":"\u{1f600} 日本語"}',
  empty: "",
};

type Headers = Record<string, string>;

/** Verifies a delivery at a time in seconds. Returns the index of its secret, or why it is refused. */
function verdict(headers: Headers, body: string | Uint8Array, values = [SECRET], now = NOW): number | string {
  const secrets = values.map((value, index) => secretOf(value, `env:SECRET_${index}`));
  const verifier = createVerifier({ schemes: DEFAULT_SCHEMES, secrets });
  const read = verifier.read(headers, now * 1000);
  if ("reason" in read) return read.reason;
  const content = openContent(Buffer.from(body), "application/json");
  const request = { method: "POST", origin: "http://127.0.0.1", target: "/webhook", headers, content };
  const verified = verifier.verify(request, read.candidates);
  return typeof verified === "string" ? verified : secrets.findIndex(({ name }) => name === verified.secret.name);
}

const accepts = (headers: Headers, body: string | Uint8Array, secret = SECRET, now = NOW) =>
  verdict(headers, body, [secret], now) === 0;

const hmac = (body: string | Uint8Array, encoding: "hex" | "base64" = "hex", secret = SECRET, hash = "sha256") =>
  createHmac(hash, secret).update(body).digest(encoding);

suite("X-Signature, X-Hub-Signature and X-Hub-Signature-256", () => {
  for (const header of ["x-signature", "x-hub-signature", "x-hub-signature-256"]) {
    test(`${header} is accepted as hex in any case or base64, with or without sha256=`, () => {
      const body = BODIES["non-ASCII"];
      for (const text of [hmac(body), hmac(body).toUpperCase(), hmac(body, "base64")]) {
        assert.equal(accepts({ [header]: text }, body), true, text);
        assert.equal(accepts({ [header]: `sha256=${text}` }, body), true, text);
        assert.equal(accepts({ [header]: `sha256= ${text}` }, body), true, text);
      }
    });
  }

  test("never verify another body or another secret", () => {
    const body = BODIES.ASCII;
    assert.equal(accepts({ "x-signature": hmac(body) }, `${body} `), false);
    assert.equal(accepts({ "x-signature": hmac(body) }, body, "other secret"), false);
    assert.equal(accepts({ "x-signature": hmac(body, "hex", "") }, body), false);
  });

  for (const encoding of ["hex", "base64"] as const) {
    test(`never verify with one character of the ${encoding} changed, whichever it is`, () => {
      const signature = hmac(BODIES.ASCII, encoding);
      for (const [at, character] of [...signature.replace("=", "")].entries()) {
        const changed = signature.slice(0, at) + (character === "0" ? "1" : "0") + signature.slice(at + 1);
        assert.equal(accepts({ "x-signature": changed }, BODIES.ASCII), false, changed);
      }
    });
  }

  for (const [what, text] of [
    ["nothing", ""],
    ["a prefix alone", "sha256="],
    ["a short signature", hmac(BODIES.ASCII).slice(0, 62)],
    ["a long signature", `${hmac(BODIES.ASCII)}00`],
    ["two prefixes", `sha256=sha256=${hmac(BODIES.ASCII)}`],
    ["a prefix in capitals", `SHA256=${hmac(BODIES.ASCII)}`],
    ["base64 without padding", hmac(BODIES.ASCII, "base64").replace("=", "")],
    ["SHA-1", hmac(BODIES.ASCII, "hex", SECRET, "sha1")],
    ["SHA-1 with its prefix", `sha1=${hmac(BODIES.ASCII, "hex", SECRET, "sha1")}`],
    ["SHA-512", hmac(BODIES.ASCII, "hex", SECRET, "sha512")],
    ["letters that are no hex", "z".repeat(64)],
    [
      "characters with a digit's low byte",
      hmac(BODIES.ASCII).replaceAll(/./g, (digit) => String.fromCharCode(0x100 + digit.charCodeAt(0))),
    ],
    ["a list", `${hmac(BODIES.ASCII)},${hmac(BODIES.ASCII)}`],
    ["a megabyte", "a".repeat(1_000_000)],
  ] as const) {
    test(`with ${what} are refused`, () => {
      assert.equal(accepts({ "x-signature": text, "x-hub-signature": text }, BODIES.ASCII), false);
    });
  }

  test("are not read from headers with other names", () => {
    for (const name of ["signature", "x-signature-256", "x_signature", "authorization"]) {
      assert.equal(accepts({ [name]: hmac(BODIES.ASCII) }, BODIES.ASCII), false);
    }
    assert.equal(accepts({}, BODIES.ASCII), false);
  });

  test("accept a delivery if one of several signatures is valid", () => {
    const headers = { "x-hub-signature": `sha1=${"0".repeat(40)}`, "x-hub-signature-256": `sha256=${hmac("{}")}` };
    assert.equal(accepts(headers, "{}"), true);
  });

  test("cover the raw bytes of any body", () => {
    const bytes = Uint8Array.from([0, 255, 128, 10, 13]);
    assert.equal(accepts({ "x-signature": hmac(bytes) }, bytes), true);
  });
});

// The library signs no empty body.
for (const what of ["ASCII", "non-ASCII"] as const) {
  const body = BODIES[what];
  test(`a delivery signed by GitHub's library verifies when its body is ${what}`, async () => {
    const headers = { "x-hub-signature-256": await sign(SECRET, body) };
    assert.equal(accepts(headers, body), true);
    assert.equal(accepts(headers, `${body} `), false);
    assert.equal(accepts(headers, body, "other secret"), false);
  });
}

for (const [what, body] of Object.entries(BODIES)) {
  suite(`a delivery with a body that is ${what}`, () => {
    test("signed by Stripe's library verifies", () => {
      const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret: WHSEC, timestamp: NOW });
      const headers = { "stripe-signature": header };
      assert.equal(accepts(headers, body, WHSEC), true);
      assert.equal(accepts(headers, `${body} `, WHSEC), false);
      assert.equal(accepts(headers, body, SECRET), false);
    });

    test("signed by the Standard Webhooks library verifies with and without the secret's prefix", () => {
      const headers = standardHeaders(body);
      assert.equal(accepts(headers, body, WHSEC), true);
      assert.equal(accepts(headers, body, WHSEC.replace("whsec_", "")), true);
      assert.equal(accepts(headers, `${body} `, WHSEC), false);
      assert.equal(accepts(headers, body, `whsec_${Buffer.from("other").toString("base64")}`), false);
    });
  });
}

test("unused bits in the last character of a Standard Webhooks secret are ignored, as by the library", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwX1B";
  assert.equal(accepts(standardHeaders("{}", { secret }), "{}", secret), true);
});

// The test vector of OpenAI's libraries.
test("OpenAI's published delivery verifies", () => {
  const headers = {
    "webhook-id": "wh_685c059ae39c8190af8c71ed1022a24d",
    "webhook-timestamp": "1750861210",
    "webhook-signature": "v1,gUAg4R2hWouRZqRQG4uJypNS8YK885G838+EHb4nKBY=",
  };
  const body =
    '{"id": "evt_685c059ae3a481909bdc86819b066fb6", "object": "event", "created_at": 1750861210, "type": "response.completed", "data": {"id": "resp_123"}}';
  const secret = "whsec_RdvaYFYUXuIFuEbvZHwMfYFhUf7aMYjYcmM24+Aj40c=";
  assert.equal(accepts(headers, body, secret, 1_750_861_210), true);
  assert.equal(accepts(headers, `${body} `, secret, 1_750_861_210), false);
});

test("a Standard Webhooks secret may begin with its version, as Supabase shows it", () => {
  assert.equal(accepts(standardHeaders("{}"), "{}", `v1,${WHSEC}`), true);
  assert.equal(accepts(standardHeaders("{}"), "{}", `v2,${WHSEC}`), false);
});

test("a Standard Webhooks secret without the prefix may be the key itself, as with Polar", () => {
  for (const secret of ["polar_whs_0123456789", "letters"]) {
    const headers = standardHeaders("{}", { secret: Buffer.from(secret).toString("base64") });
    assert.equal(accepts(headers, "{}", secret), true);
    assert.equal(accepts(headers, "{}", `whsec_${secret}`), false);
  }
});

test("a signed header is verified as the bytes that were sent", () => {
  const sent = Buffer.from("msg_é");
  const text = Buffer.concat([sent, Buffer.from(`.${NOW}.{}`)]);
  const key = Buffer.from(WHSEC.slice("whsec_".length), "base64");
  const headers = {
    "webhook-id": sent.toString("latin1"),
    "webhook-timestamp": String(NOW),
    "webhook-signature": `v1,${createHmac("sha256", key).update(text).digest("base64")}`,
  };
  assert.equal(accepts(headers, "{}", WHSEC), true);
});

function standardHeaders(body: string, { id = "msg_1", at = NOW, secret = WHSEC } = {}): Headers {
  const signature = new Webhook(secret).sign(id, new Date(at * 1000), body);
  return { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": signature };
}

suite("a signed timestamp", () => {
  const stripe = (timestamp: number): Headers => ({
    "stripe-signature": Stripe.webhooks.generateTestHeaderString({ payload: "{}", secret: WHSEC, timestamp }),
  });
  const standard = (at: number) => standardHeaders("{}", { at });

  for (const [name, headersAt] of Object.entries({ stripe, standard })) {
    test(`of ${name} may differ from the clock by at most five minutes`, () => {
      for (const seconds of [-300, 0, 300]) assert.equal(accepts(headersAt(NOW + seconds), "{}", WHSEC), true);
      for (const seconds of [-301, 301, -86_400]) assert.equal(accepts(headersAt(NOW + seconds), "{}", WHSEC), false);
    });
  }

  test("cannot be replaced by a fresh one", () => {
    const old = standard(NOW - 1000);
    assert.equal(accepts({ ...old, "webhook-timestamp": String(NOW) }, "{}", WHSEC), false);
    const [header = ""] = Object.values(stripe(NOW - 1000));
    assert.equal(accepts({ "stripe-signature": header.replace(/t=\d+/, `t=${NOW}`) }, "{}", WHSEC), false);
    assert.equal(accepts({ "stripe-signature": `t=${NOW},${header}` }, "{}", WHSEC), false);
  });

  test("is required and must be a whole number", () => {
    for (const at of ["", "now", "1e9", "-1", `${NOW}.0`, ` ${NOW}`, "9".repeat(20)]) {
      const signature = hmac(`${at}.{}`, "hex", WHSEC);
      assert.equal(accepts({ "stripe-signature": `t=${at},v1=${signature}` }, "{}", WHSEC), false, at);
    }
    assert.equal(accepts({ "stripe-signature": `v1=${hmac(".{}", "hex", WHSEC)}` }, "{}", WHSEC), false);
    const { "webhook-timestamp": _, ...without } = standard(NOW);
    assert.equal(accepts(without, "{}", WHSEC), false);
  });

  test("and the id are covered by a Standard Webhooks signature", () => {
    assert.equal(accepts({ ...standard(NOW), "webhook-id": "msg_2" }, "{}", WHSEC), false);
    const { "webhook-id": _, ...without } = standard(NOW);
    assert.equal(accepts(without, "{}", WHSEC), false);
  });
});

suite("while a sender rotates its secret", () => {
  const OTHER = `whsec_${Buffer.from("another secret of the sender").toString("base64")}`;

  test("one valid signature of several is enough, in any position", () => {
    const old = standardHeaders("{}", { secret: OTHER })["webhook-signature"];
    const headers = standardHeaders("{}");
    for (const list of [
      `${old} ${headers["webhook-signature"]}`,
      `${headers["webhook-signature"]} ${old}`,
      `v1a,x ${headers["webhook-signature"]}`,
      // Two headers of the same name, as Node joins them.
      `${old}, ${headers["webhook-signature"]}`,
      `${headers["webhook-signature"]}, ${old}`,
    ]) {
      assert.equal(accepts({ ...headers, "webhook-signature": list }, "{}", WHSEC), true, list);
    }
    const [a, b] = [WHSEC, OTHER].map((secret) => hmac(`${NOW}.{}`, "hex", secret));
    assert.equal(accepts({ "stripe-signature": `t=${NOW},v1=${b},v1=${a},v0=${b}` }, "{}", WHSEC), true);
  });

  test("several signatures without a valid one are refused", () => {
    const old = standardHeaders("{}", { secret: OTHER })["webhook-signature"];
    assert.equal(accepts({ ...standardHeaders("{}"), "webhook-signature": `${old} ${old}` }, "{}", WHSEC), false);
  });

  test("a signature of another version does not count", () => {
    const right = hmac(`${NOW}.{}`, "hex", WHSEC);
    assert.equal(accepts({ "stripe-signature": `t=${NOW},v0=${right}` }, "{}", WHSEC), false);
    const headers = standardHeaders("{}");
    const v2 = headers["webhook-signature"]?.replace("v1,", "v2,") ?? "";
    assert.equal(accepts({ ...headers, "webhook-signature": v2 }, "{}", WHSEC), false);
  });
});

suite("the result for a delivery", () => {
  const body = BODIES.ASCII;
  const stripe = (seconds: number | string) => ({
    "stripe-signature": `t=${seconds},v1=${hmac(`${seconds}.${body}`)}`,
  });

  for (const [reason, headers] of [
    ["no_signature", {}],
    ["no_signature", { authorization: hmac(body) }],
    ["malformed_signature", { "x-signature": "" }],
    ["malformed_signature", { "x-signature": "sha256=00" }],
    ["malformed_signature", { "x-signature": "z".repeat(64) }],
    ["malformed_signature", { "stripe-signature": `t=${NOW}` }],
    ["timestamp_missing", { "stripe-signature": `v1=${hmac(`${NOW}.${body}`)}` }],
    ["timestamp_missing", stripe("soon")],
    ["timestamp_too_old", stripe(NOW - 301)],
    ["timestamp_in_future", stripe(NOW + 301)],
    ["signature_mismatch", { "x-signature": hmac("other") }],
    ["signature_mismatch", { "stripe-signature": `t=${NOW},v1=${hmac("other")}` }],
  ] as const) {
    test(`${reason}: ${JSON.stringify(headers).slice(0, 60)}`, () => {
      assert.equal(verdict(headers as Headers, body), reason);
    });
  }

  test("is that of a plausible signature, even if other headers are malformed", () => {
    const headers = { ...stripe(NOW - 1000), "x-signature": hmac(body), "x-hub-signature": "junk" };
    assert.equal(verdict(headers, body), 0);
  });

  test("names the secret that it was signed with", () => {
    const signed = { "x-signature": hmac(body, "hex", "the older one") };
    assert.equal(verdict(signed, body, [SECRET, "the older one"]), 1);
    assert.equal(verdict(signed, body, ["the older one", SECRET]), 0);
    assert.equal(verdict(signed, body, [SECRET]), "signature_mismatch");
  });
});

test("the time before the signature of a form is verified grows with its fields, not with their square", () => {
  const [scheme] = providerOf("twilio")?.schemes ?? [];
  assert.ok(scheme);
  const verifier = createVerifier({ schemes: [scheme], secrets: [secretOf(SECRET)] });
  const headers = { "x-twilio-signature": hmac("other", "base64", SECRET, "sha1") };
  const read = verifier.read(headers, NOW * 1000);
  assert.ok("candidates" in read);
  growsLinearly(4000, (fields) => {
    const body = Buffer.from(Array.from({ length: fields }, (_, index) => `${index.toString(36)}=`).join("&"));
    return () => {
      const content = openContent(body, "application/x-www-form-urlencoded");
      const request = { method: "POST", origin: "http://127.0.0.1", target: "/webhook", headers, content };
      assert.equal(verifier.verify(request, read.candidates), "signature_mismatch");
    };
  });
});
