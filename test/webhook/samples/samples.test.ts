import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type Content, FORM, MULTIPART, openContent } from "../../../src/webhook/content/content.ts";
import type { Provider } from "../../../src/webhook/provider.ts";
import { allProviders, providerOf } from "../../../src/webhook/providers/index.ts";
import { genericTemplate, type Sample, sampleFit, sampleOf } from "../../../src/webhook/samples/index.ts";
import { headersOf, type IdPlace, type Place } from "../../../src/webhook/signature/schemes.ts";

const NOW = Date.UTC(2026, 10, 24, 8, 47, 3, 250);

const providers = allProviders();
const withSample = providers.flatMap(([slug, { sample }]) => (sample === undefined ? [] : [slug]));
const contentOf = ({ body, contentType }: Sample): Content => openContent(Buffer.from(body), contentType);

function textAt(sample: Sample, place: Place | undefined): unknown {
  if (place?.startsWith("header:")) return sample.headers[place.slice("header:".length)];
  return place && contentOf(sample).member(place.slice("body:".length));
}

/** The last of several places of an id. */
const lastOf = (place: IdPlace) => (typeof place === "string" ? place : place[place.length - 1]) as Place;

/** The first place of a type. */
const typePlaceOf = ({ type }: Provider) => type?.map(lastOf).find((place) => !place.startsWith("claim:"));

/** The first place of an id. A claim is made by whoever signs. */
const idPlaceOf = ({ id }: Provider) => id?.map(lastOf).find((place) => !place.startsWith("claim:"));

/** The headers that hold a signature or its time. */
function signingHeaders({ schemes }: Provider): string[] {
  return schemes.flatMap((scheme) => {
    const timestamp = "timestamp" in scheme ? scheme.timestamp : undefined;
    return [...headersOf(scheme), ...(timestamp && "header" in timestamp ? [timestamp.header] : [])];
  });
}

suite("the sample of each provider", () => {
  for (const [slug, provider] of providers) {
    test(slug, () => {
      const options = { id: "id-of-the-user", type: "type.of.the.user", now: NOW };
      const sample = sampleOf(slug, options);
      const { headers, body } = sample;
      const { mediaType } = contentOf(sample);
      const accepted = provider.contentTypes ?? ["application/json"];
      assert.ok(accepted.includes(mediaType) || accepted.includes("*/*"), mediaType);
      const isEmpty = provider.sample !== undefined && "isEmpty" in provider.sample.content;
      if (mediaType !== FORM && mediaType !== MULTIPART && !isEmpty) assert.equal(contentOf(sample).json().ok, true);
      const id = idPlaceOf(provider);
      if (id) assert.equal(textAt(sample, id), options.id);
      const type = typePlaceOf(provider);
      if (type) assert.equal(textAt(sample, type), options.type);
      assert.equal(body.length === 0, isEmpty);
      assert.ok(body.length <= 3000, `${body.length} characters`);
      for (const [name, value] of Object.entries(headers)) {
        assert.match(name, /^[a-z0-9-]+$/);
        assert.match(value, /^[\x20-\x7e]+$/);
        assert.doesNotMatch(name, /signature(?!-version$|-algorithm$)|hmac|authorization|host|content-/);
      }
      for (const name of signingHeaders(provider)) assert.equal(headers[name], undefined);
    });
  }
});

suite("each provider", () => {
  test("has a new id for each sample, or a new body if it has no id", () => {
    for (const [slug, provider] of providers) {
      const id = idPlaceOf(provider);
      const [one, other] = [sampleOf(slug, { now: NOW }), sampleOf(slug, { now: NOW })];
      const of = (sample: Sample) => (id ? textAt(sample, id) : sample.body);
      assert.ok(of(one), slug);
      assert.notEqual(of(one), of(other), slug);
    }
  });

  test("has a type for each sample that is asked for without one", () => {
    for (const [slug, provider] of providers) {
      const type = typePlaceOf(provider);
      if (type) assert.ok(textAt(sampleOf(slug, { now: NOW }), type), slug);
    }
  });
});

suite("a provider's own sample", () => {
  for (const slug of withSample) {
    test(`of ${slug} has the provider's shape and the usual size`, () => {
      const { body, headers } = sampleOf(slug, { now: NOW });
      assert.doesNotMatch(body + JSON.stringify(headers), /sample\.created|"object":"sample"/);
      if (body === "") return;
      assert.ok(body.length >= 250 && body.length <= 2400, `${body.length} characters`);
    });

    test(`of ${slug} has addresses at example.com only, and no time but around now`, () => {
      const { body } = sampleOf(slug, { now: NOW });
      const text = decodeURIComponent(body);
      for (const [address] of text.matchAll(/[\w.+-]+@[\w.-]+/g)) assert.match(address, /[@.]example\.com$|@upi$/);
      for (const [time] of text.matchAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d/g))
        assert.ok(Math.abs(Date.parse(`${time}Z`) - NOW) < 7_200_000, time);
    });
  }

  test("of Mailgun has a place for its signature", () => {
    const content = contentOf(sampleOf("mailgun", { now: NOW }));
    assert.equal(content.member("signature.timestamp"), String(Math.floor(NOW / 1000)));
    assert.match(String(content.member("signature.token")), /^[0-9a-f]{50}$/);
    assert.equal(content.member("signature.signature"), "");
  });

  test("of Braintree names its kind in the payload", () => {
    const content = contentOf(sampleOf("braintree", { type: "dispute_opened", now: NOW }));
    const xml = Buffer.from(String(content.member("bt_payload")), "base64").toString("utf8");
    assert.match(xml, /<kind>dispute_opened<\/kind>/);
    assert.match(xml, /<timestamp type="datetime">2026-11-24T08:47:03Z</);
  });

  test("of Twilio repeats the status for old receivers", () => {
    const content = contentOf(sampleOf("twilio", { type: "undelivered", now: NOW }));
    assert.equal(content.member("SmsStatus"), "undelivered");
    assert.equal(content.member("RawDlrDoneDate"), "2611240847");
  });

  for (const [slug, pattern] of [
    ["clerk", /^msg_[A-Za-z0-9]{27}$/],
    ["github", /^[0-9a-f-]{36}$/],
    ["intercom", /^notif_[0-9a-f-]{36}$/],
    ["openai", /^msg_[A-Za-z0-9]{27}$/],
    ["paddle", /^evt_[a-z\d]{26}$/],
    ["razorpay", /^[A-Za-z0-9]{14}$/],
    ["slack", /^Ev[A-Z0-9]{9}$/],
    ["stripe", /^evt_[A-Za-z0-9]{24}$/],
    ["woocommerce", /^[0-9a-f]{32}$/],
  ] as const) {
    test(`of ${slug} has an id in its style`, () => {
      assert.match(String(textAt(sampleOf(slug, { now: NOW }), providerOf(slug)?.id?.map(lastOf)[0])), pattern);
    });
  }
});

suite("the sample without a preset", () => {
  test("is a generic event", () => {
    const { contentType, headers, body } = sampleOf(null, { id: "1", type: "order.paid", now: NOW });
    const { data, ...rest } = JSON.parse(body);
    assert.equal(contentType, "application/json");
    assert.deepEqual(headers, {});
    assert.deepEqual(rest, { id: "1", type: "order.paid", created_at: "2026-11-24T08:47:03.250Z" });
    assert.equal(data.object, "sample");
  });

  test("of the default source is an event of Stripe", () => {
    const { type, created, id, ...rest } = JSON.parse(sampleOf("default", { now: NOW }).body);
    assert.match(id, /^evt_test_[0-9a-f-]{36}$/);
    assert.equal(type, "payment_intent.succeeded");
    assert.equal(created, Math.floor(NOW / 1000));
    assert.equal(rest.object, "event");
    assert.equal(rest.livemode, false);
  });

  test("is generic for an unknown name", () => {
    assert.match(sampleOf("constructor", { now: NOW }).body, /"type":"sample\.created"/);
  });
});

suite("the generic template", () => {
  const event = { id: "1", type: "order.paid", now: NOW };

  test("is a batch of one event for places in an array", () => {
    const { content } = genericTemplate({ id: ["body:0.event.id"], type: ["body:0.type"] });
    assert.ok("json" in content);
    const [only, ...others] = JSON.parse(JSON.stringify(content.json(event)));
    assert.deepEqual(others, []);
    assert.deepEqual([only.event, only.type, only.data.object], [{ id: "1" }, "order.paid", "sample"]);
  });

  test("is a form for a sender of forms only", () => {
    const { content } = genericTemplate({
      id: ["body:EventId"],
      type: ["body:Status"],
      contentTypes: [FORM],
    });
    assert.ok("form" in content);
    const { EventId, Status } = content.form(event);
    assert.deepEqual([EventId, Status], ["1", "order.paid"]);
  });
});

suite("a sample of another type", () => {
  const objectOf = (slug: string, type: string) =>
    JSON.parse(sampleOf(slug, { now: NOW, type }).body).data.object.object;

  test("has the object of that type if there is one", () => {
    for (const slug of ["stripe", "default"]) {
      assert.deepEqual(
        ["invoice.paid", "checkout.session.completed", "customer.subscription.created", "toString"].map((type) =>
          objectOf(slug, type),
        ),
        ["invoice", "checkout.session", "subscription", "payment_intent"],
      );
    }
  });

  test("is the usual one where the type is a member, and none where it is told elsewhere", () => {
    const fits = (slug: string | null, type: string) => sampleFit(slug, type).fit;
    assert.deepEqual(
      [fits("stripe", "invoice.paid"), fits("stripe", "charge.refunded"), fits("default", "order.paid")],
      ["own", "usual", "usual"],
    );
    assert.deepEqual([fits("github", "push"), fits("github", "issues"), fits(null, "x")], ["own", "none", "own"]);
  });
});
