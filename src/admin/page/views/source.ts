import type { VNode } from "preact";
import type { Source as SourceItem } from "../answers.ts";
import { activity } from "../components/activity.ts";
import { badge } from "../components/badge.ts";
import { heading } from "../components/heading.ts";
import { icon } from "../components/icon.ts";
import { emptyState, shown, skeleton } from "../components/states.ts";
import { readPreset, readSources } from "../endpoints.ts";
import { element, html } from "../html.ts";
import { hashOf } from "../place.ts";
import { useResource } from "../resource.ts";
import { providerFacts } from "../setup/provider-facts.ts";
import { sendSampleButton } from "../setup/send-sample.ts";
import { secretButton, sourceUrl } from "../setup/source-address.ts";
import { serverText, t } from "../texts/texts.ts";
import { secrets, sourceTerms } from "./sources.ts";

/** A source: its address, what it has received, its secrets, and what is known of its provider. */
export function Source({ name }: { name: string }): VNode {
  const sources = useResource("sources", readSources, 5000);
  return html`<p><a href=${hashOf(["sources"])}>← ${t.views.sources}</a></p>
    ${heading(name)}
    ${shown(sources, ({ items }) => {
      const source = items.find((one) => one.name === name);
      return source ? body(source) : emptyState(t.sources.unknown);
    })}`;
}

const body = (source: SourceItem) => html`
  ${source.silent && html`<p>${badge("warn", "warning", t.sources.silent)}</p>`}
  <div class="actions">
    ${sendSampleButton({ source: source.name, label: t.sources.sendSample, isMain: true })}
    ${source.received === 0 && source.secrets.length > 0 && secretButton(source.name)}
    <a class="button" href=${hashOf(["explain"], { source: source.name })}>${t.refused.explainOther}</a>
  </div>
  <section><h2>${t.sources.address}</h2><div class="card">${sourceUrl(source.url)}${sourceTerms(source)}</div></section>
  <section>${activity({ source: source.name })}</section>
  <section><h2>${t.sources.secrets}</h2>
    ${source.findings.map(({ found, remedy }) => html`<p class="note warn" key=${found}>${icon("warning")} ${serverText(found)}: ${serverText(remedy)}</p>`)}
    ${secrets(source)}
    <p class="soft small">${t.sources.rotation}</p></section>
  ${source.preset !== null && html`<section><h2>${t.sources.provider}</h2><div class="card">${element(Provider, { name: source.preset })}</div></section>`}`;

function Provider({ name }: { name: string }): VNode {
  const preset = useResource(name, (signal) => readPreset(name, signal));
  return html`${shown(
    preset,
    (data) =>
      html`<p><strong>${data.title}</strong> <a href=${data.docs} target="_blank" rel="noreferrer">${t.setup.providersPage}</a></p>${providerFacts(data)}`,
    skeleton(4),
  )}`;
}
