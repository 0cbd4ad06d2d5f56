import { formatMultipart } from "../../lib/multipart.ts";
import { FORM, MULTIPART } from "../intake/content.ts";
import { providerOf } from "../providers/index.ts";
import { DEFAULT, type EventPlaces, genericTemplate } from "./generic.ts";
import type { Sample, SampleEvent, Template } from "./template.ts";

export type { Sample } from "./template.ts";

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
  const provider = providerOf(slug);
  const template = slug === "default" ? DEFAULT : (provider?.sample ?? genericTemplate(provider ?? like));
  const event = { id: id ?? template.newId?.() ?? "", type: type ?? template.type, now };
  return { ...bodyOf(template.content, event), headers: template.headers?.(event) ?? {} };
}

const BOUNDARY = "sample-9vXH3cT0rQ5kZ1aY";

function bodyOf(content: Template["content"], event: SampleEvent): Pick<Sample, "contentType" | "body"> {
  if ("isEmpty" in content) return { contentType: "application/json", body: "" };
  if ("json" in content) return { contentType: "application/json", body: JSON.stringify(content.json(event)) };
  if ("form" in content) return { contentType: FORM, body: new URLSearchParams(content.form(event)).toString() };
  const fields = Object.entries(content.multipart(event));
  return { contentType: `${MULTIPART}; boundary=${BOUNDARY}`, body: formatMultipart(fields, BOUNDARY) };
}
