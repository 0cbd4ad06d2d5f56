import { FORM } from "../content.ts";
import { providerOf } from "../providers/index.ts";
import { DEFAULT, type EventPlaces, genericTemplate } from "./generic.ts";
import type { Sample } from "./template.ts";

export type { Sample } from "./template.ts";

/** What a sample is made for. */
export interface SampleOptions {
  /** A new id in the provider's style by default. Ignored if the provider's deliveries have none. */
  id?: string | undefined;
  /** That of the provider's sample by default. */
  type?: string | undefined;
  /** Unix milliseconds. */
  now: number;
}

/**
 * Makes a delivery as the provider of a preset sends it, before it is signed: a generic event for a preset without a sample
 * of its own, and for `null`. For `default` it is the event that the source of this name takes. `like` describes a sender
 * without a preset.
 */
export function sampleOf(slug: string | null, { id, type, now }: SampleOptions, like?: EventPlaces): Sample {
  const provider = providerOf(slug);
  const template = slug === "default" ? DEFAULT : (provider?.sample ?? genericTemplate(provider ?? like));
  const event = { id: id ?? template.newId?.() ?? "", type: type ?? template.type, now };
  const { content } = template;
  const isForm = "form" in content;
  return {
    contentType: isForm ? FORM : "application/json",
    headers: template.headers?.(event) ?? {},
    body: isForm ? new URLSearchParams(content.form(event)).toString() : JSON.stringify(content.json(event)),
  };
}
