import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { Source } from "../answers.ts";
import { copyButton } from "../components/copy-button.ts";
import { lazyDetails } from "../components/lazy-details.ts";
import { element, html } from "../html.ts";
import { hashOf } from "../place.ts";
import { t } from "../texts/texts.ts";
import { APP_CODE, forwardSettings, newSecret } from "./app-code.ts";
import { sendSampleButton } from "./send-sample.ts";
import { secretButton, sourceUrl } from "./source-address.ts";

/** What to do before the first delivery. */
export const firstSteps = (sources: readonly Source[]): VNode => html`<ol class="steps">
  ${step(t.setup.sender, senderStep(sources))}
  ${sources[0] && step(t.setup.test, testStep(sources[0]))}
  ${step(t.setup.app, element(AppStep, {}))}
</ol>`;

const step = (title: string, content: VNode) => html`<li class="card" key=${title}><h2>${title}</h2>${content}</li>`;

function senderStep(sources: readonly Source[]): VNode {
  return html`<p>${sources.length === 0 ? t.setup.noSource : t.setup.senderHow}</p>
    ${sources.map(
      ({ name, url, secrets }) => html`<div key=${name}><h3>${name}</h3>${sourceUrl(url)}
      ${secrets.length > 0 && html`<p class="copied">${secretButton(name)}</p>`}</div>`,
    )}
    ${sources.length > 0 && html`<p class="waiting" role="status"><span class="pulse" aria-hidden="true"></span>${t.setup.waiting}</p>`}
    <p><a class="button" href=${hashOf(["add-source"])}>${t.setup.addSource}</a></p>`;
}

const testStep = ({ name }: Source) =>
  html`<p>${t.setup.testHow}</p>${sendSampleButton({ source: name, label: t.setup.sendTest, isMain: true })}`;

function AppStep(): VNode {
  const settings = useMemo(() => forwardSettings(newSecret()), []);
  return html`<p>${t.setup.appHow}</p>
    <pre tabindex="0">${settings}</pre>
    ${copyButton({ label: t.setup.copySettings, done: t.copied, text: () => settings })}
    ${lazyDetails(t.setup.appCode, () => html`<pre tabindex="0">${APP_CODE}</pre>${copyButton({ label: t.setup.copyCode, done: t.copied, text: () => APP_CODE })}`)}
    <p class="soft">${t.setup.restart}</p>`;
}
