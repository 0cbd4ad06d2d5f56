import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { Source } from "../answers.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { lazyDetails } from "../components/lazy-details.tsx";
import { addSourceLink } from "../components/states.tsx";
import { t } from "../texts/texts.ts";
import { APP_CODE, forwardSettings, newSecret } from "./app-code.ts";
import { SendSample } from "./send-sample.tsx";
import { SecretButton, sourceUrl } from "./source-address.tsx";

/** What to do before the first delivery. */
export const firstSteps = (sources: readonly Source[]): VNode => (
  <ol class="steps">
    {step(t.setup.sender, senderStep(sources))}
    {sources[0] && step(t.setup.test, testStep(sources[0]))}
    {step(t.setup.app, <AppStep />)}
  </ol>
);

const step = (title: string, content: VNode) => (
  <li class="card" key={title}>
    <h2>{title}</h2>
    {content}
  </li>
);

function senderStep(sources: readonly Source[]): VNode {
  return (
    <>
      <p>{sources.length === 0 ? t.setup.noSource : t.setup.senderHow}</p>
      {sources.map(({ name, url, secrets }) => (
        <div key={name}>
          <h3>{name}</h3>
          {sourceUrl(url)}
          {secrets.length > 0 && (
            <p class="copied">
              <SecretButton source={name} />
            </p>
          )}
        </div>
      ))}
      {sources.length > 0 && (
        <p class="waiting" role="status">
          <span class="pulse" aria-hidden="true" />
          {t.setup.waiting}
        </p>
      )}
      <p>{addSourceLink()}</p>
    </>
  );
}

const testStep = ({ name }: Source) => (
  <>
    <p>{t.setup.testHow}</p>
    <SendSample source={name} label={t.setup.sendTest} isMain />
  </>
);

function AppStep(): VNode {
  const settings = useMemo(() => forwardSettings(newSecret()), []);
  return (
    <>
      <p>{t.setup.appHow}</p>
      <pre tabIndex={0}>{settings}</pre>
      <CopyButton label={t.setup.copySettings} done={t.copied} text={() => settings} />
      {lazyDetails(t.setup.appCode, () => (
        <>
          <pre tabIndex={0}>{APP_CODE}</pre>
          <CopyButton label={t.setup.copyCode} done={t.copied} text={() => APP_CODE} />
        </>
      ))}
      <p class="soft">{t.setup.restart}</p>
    </>
  );
}
