import type { VNode } from "preact";
import type { Source as SourceItem } from "../answers.ts";
import { activity } from "../components/activity.tsx";
import { badge } from "../components/badge.tsx";
import { Heading } from "../components/heading.tsx";
import { icon } from "../components/icon.tsx";
import { Section } from "../components/section.tsx";
import { emptyState, shown, skeleton } from "../components/states.tsx";
import { hashOf } from "../place.ts";
import { readPreset, readSources } from "../requests.ts";
import { useResource } from "../resource.ts";
import { providerFacts } from "../setup/provider-facts.tsx";
import { SendSample } from "../setup/send-sample.tsx";
import { SecretButton, sourceUrl } from "../setup/source-address.tsx";
import { serverText, t } from "../texts/texts.ts";
import { oldSecret, secrets, sourceTerms } from "./sources.tsx";

/** A source: its address, what it has received, its secrets, and what is known of its provider. */
export function Source({ name }: { name: string }): VNode {
  const sources = useResource("sources", readSources, 5000);
  return (
    <>
      <Heading title={name} back="sources" />
      {shown(sources, ({ items }) => {
        const source = items.find((one) => one.name === name);
        return source ? body(source) : emptyState(t.sources.unknown);
      })}
    </>
  );
}

const body = (source: SourceItem) => (
  <>
    {source.silent && <p>{badge("warn", "warning", t.sources.silent)}</p>}
    <div class="actions">
      <SendSample source={source.name} label={t.sources.sendSample} isMain />
      {source.received === 0 && source.secrets.length > 0 && <SecretButton source={source.name} />}
      <a class="button" href={hashOf(["explain"], { source: source.name })}>
        {t.refused.explainOther}
      </a>
    </div>
    <Section title={t.sources.address}>
      <div class="card">
        {sourceUrl(source.url)}
        {sourceTerms(source)}
      </div>
    </Section>
    <section>{activity({ source: source.name })}</section>
    <Section title={t.sources.secrets}>
      {oldSecret(source) && (
        <p class="note warn">
          {icon("warning")} {t.sources.oldInUse}
        </p>
      )}
      {source.findings.map(({ found, remedy }) => (
        <p class="note warn" key={found}>
          {icon("warning")} {serverText(found)}: {serverText(remedy)}
        </p>
      ))}
      {secrets(source)}
      <p class="soft small">{t.sources.rotation}</p>
    </Section>
    {source.preset !== null && (
      <Section title={t.sources.provider}>
        <div class="card">
          <Provider name={source.preset} />
        </div>
      </Section>
    )}
  </>
);

function Provider({ name }: { name: string }): VNode {
  const preset = useResource(name, (signal) => readPreset(name, signal));
  return (
    <>
      {shown(
        preset,
        (data) => (
          <>
            <p>
              <strong>{data.title}</strong>{" "}
              <a href={data.docs} target="_blank" rel="noreferrer">
                {t.setup.providersPage}
              </a>
            </p>
            {providerFacts(data)}
          </>
        ),
        skeleton(4),
      )}
    </>
  );
}
