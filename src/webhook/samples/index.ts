import { randomUUID } from "node:crypto";
import { formatMultipart } from "../../lib/multipart.ts";
import { FORM, MULTIPART } from "../content/content.ts";
import { iso, messageId, type Sample, type SampleEvent, seconds, type Template } from "../provider/sample.ts";
import { stripeSamples } from "../provider/stripe-objects.ts";
import type { Provider } from "../provider.ts";
import { providerOf } from "../providers/index.ts";
import type { Place } from "../signature/schemes.ts";

export type { Sample } from "../provider/sample.ts";

/** What a sample is made for. */
interface SampleOptions {
  /** A new id in the provider's style by default. Ignored if the provider's deliveries have none. */
  id?: string | undefined;
  /** That of the provider's sample by default. */
  type?: string | undefined;
  /** Unix milliseconds. */
  now: number;
}

/**
 * Makes a delivery as the provider of a preset sends it, before it is signed: a generic event for a preset without a
 * sample of its own, and for `null`. For `default` it is the event that the source of this name takes. `like` describes
 * a sender without a preset.
 */
export function sampleOf(slug: string | null, { id, type, now }: SampleOptions, like?: EventPlaces): Sample {
  const template = ownTemplate(slug) ?? genericTemplate(providerOf(slug) ?? like);
  const event = { id: id ?? template.newId?.() ?? "", type: type ?? template.type, now };
  const others = new Map(Object.entries(template.others ?? {}));
  const content = others.get(event.type) ?? template.content;
  return { ...bodyOf(content, event), headers: template.headers?.(event) ?? {} };
}

const ownTemplate = (slug: string | null) => (slug === "default" ? DEFAULT : providerOf(slug)?.sample);

/**
 * How {@link sampleOf} makes a sample of a type. `own`: as the provider sends this type. `usual`: one of the type
 * `usual`, with this type as its member. `none`: the type is told elsewhere, and the rest would be of another type.
 */
export function sampleFit(slug: string | null, type: string): { fit: "own" | "usual" | "none"; usual: string } {
  const template = ownTemplate(slug);
  // A generic event has no type that it fits better.
  if (template === undefined) return { fit: "own", usual: type };
  const { type: usual, others = {} } = template;
  if (type === usual || Object.hasOwn(others, type)) return { fit: "own", usual };
  const [place = "body:type"] = [providerOf(slug)?.type?.[0] ?? []].flat();
  return { fit: /^(?:body|claim):/.test(place) ? "usual" : "none", usual };
}

const BOUNDARY = "sample-9vXH3cT0rQ5kZ1aY";

function bodyOf(content: Template["content"], event: SampleEvent): Pick<Sample, "contentType" | "body"> {
  if ("isEmpty" in content) return { contentType: "application/json", body: "" };
  if ("json" in content) return { contentType: "application/json", body: JSON.stringify(content.json(event)) };
  if ("form" in content) return { contentType: FORM, body: new URLSearchParams(content.form(event)).toString() };
  const fields = Object.entries(content.multipart(event));
  return { contentType: `${MULTIPART}; boundary=${BOUNDARY}`, body: formatMultipart(fields, BOUNDARY) };
}

/** The source `default` checks that this is an event of Stripe. */
const DEFAULT: Template = {
  type: "payment_intent.succeeded",
  newId: () => `evt_test_${randomUUID()}`,
  content: {
    json: (event) => {
      const object = { id: "pi_test", object: "payment_intent", amount: 1000, currency: "eur", status: "succeeded" };
      return stripeEvent(object, event);
    },
  },
  others: stripeSamples(stripeEvent),
};

function stripeEvent(object: object, { id, type, now }: SampleEvent): object {
  const event = { id, object: "event", api_version: "2026-01-01", created: seconds(now) };
  return { ...event, data: { object }, livemode: false, type };
}

/** Where a sender puts the id and type of its events, and its media types. */
type EventPlaces = Pick<Provider, "id" | "type" | "contentTypes">;

/** The template for a sender without one of its own. */
export function genericTemplate(sender: EventPlaces | undefined): Template {
  if (sender === undefined) return templateWith("body:id", "body:type", true);
  const { id, type, contentTypes } = sender;
  // Claims are made by whoever signs.
  const idPlace = id
    ?.map((place) => (typeof place === "string" ? place : place.at(-1)))
    .find((place) => !place?.startsWith("claim:"));
  // A receiver takes the type from this member if the preset has no place for it.
  const [typePlace = "body:type"] = type?.[0] ? [type[0]].flat() : [];
  return templateWith(idPlace, typePlace, contentTypes?.includes("application/json") ?? true);
}

function templateWith(idPlace: Place | undefined, typePlace: Place, canBeJson: boolean): Template {
  /** Names or paths of headers or of members, with what belongs there. */
  const placed = (kind: "header:" | "body:", { id, type }: SampleEvent): [string, string][] => {
    const places: [Place | undefined, string][] = [
      [idPlace, id],
      [typePlace, type],
    ];
    return places.flatMap(([place, value]) => (place?.startsWith(kind) ? [[place.slice(kind.length), value]] : []));
  };
  return {
    type: "sample.created",
    ...(idPlace && { newId: /^header:(?:webhook|svix)-id$/.test(idPlace) ? messageId : randomUUID }),
    headers: (event) => Object.fromEntries(placed("header:", event)),
    content: canBeJson
      ? {
          json: (event) => {
            const data = { id: randomUUID(), object: "sample" };
            // The undefined members set the order. They are not sent.
            const body: unknown = { id: undefined, type: undefined, created_at: iso(event.now), data };
            return placed("body:", event).reduce((members, [path, value]) => withMember(members, path, value), body);
          },
        }
      : {
          form: (event) => ({
            created_at: iso(event.now),
            data: randomUUID(),
            ...Object.fromEntries(placed("body:", event)),
          }),
        },
  };
}

/**
 * Sets the member at a path as in `Place`. An object or array on the way is made if it is missing or of the other kind.
 */
function withMember(container: unknown, path: string, value: string): unknown {
  const [name = "", ...rest] = path.split(".");
  if (/^\d+$/.test(name)) {
    const items: unknown[] = Array.isArray(container) ? [...container] : [container];
    items[Number(name)] = rest.length === 0 ? value : withMember(items[Number(name)], rest.join("."), value);
    return items;
  }
  const members = (typeof container === "object" && !Array.isArray(container) ? container : {}) as Record<
    string,
    unknown
  >;
  return { ...members, [name]: rest.length === 0 ? value : withMember(members[name], rest.join("."), value) };
}
