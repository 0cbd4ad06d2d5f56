import { type Signal, useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Draft, NewSource, Preset, Source } from "../answers.ts";
import { Heading } from "../components/heading.tsx";
import { icon } from "../components/icon.tsx";
import { Section } from "../components/section.tsx";
import { failedState, shown } from "../components/states.tsx";
import { draftSource, listPresets, readPreset, readSources } from "../requests.ts";
import { useResource } from "../resource.ts";
import { changeQuery, place } from "../router.ts";
import { configLines } from "../setup/config-lines.tsx";
import { FirstDelivery, POLL_MS } from "../setup/first-delivery.tsx";
import { providerFacts } from "../setup/provider-facts.tsx";
import { sourceUrl } from "../setup/source-address.tsx";
import { t } from "../texts/texts.ts";

/** Adds a source: the provider, what to enter there, the lines of the configuration file, and the first delivery. */
export function AddSource(): VNode {
  const presets = useResource("presets", listPresets);
  const { preset } = place.value.query;
  return (
    <>
      <Heading title={t.setup.addSource} back="sources" />
      {shown(presets, ({ items }) => (
        <>
          {choice(items, preset)}
          {items.some(({ name }) => name === preset) && <Details key={preset} name={preset as string} />}
        </>
      ))}
    </>
  );
}

/** The field takes the name or the title of a provider. */
function choice(presets: readonly Pick<Preset, "name" | "title">[], chosen: string | undefined): VNode {
  const onChange = (event: Event) => {
    const wanted = (event.currentTarget as HTMLInputElement).value.trim().toLowerCase();
    const found = presets.find(({ name, title }) => name === wanted || title.toLowerCase() === wanted);
    if (found) changeQuery({ preset: found.name });
  };
  return (
    <>
      <label class="narrow">
        {t.setup.provider}
        <input
          type="search"
          list="presets"
          value={chosen ?? ""}
          autocomplete="off"
          placeholder={t.setup.providerHint}
          onInput={onChange}
        />
      </label>
      <datalist id="presets">
        {presets.map(({ name, title }) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </datalist>
      <p class="soft small">{t.setup.countOfPresets(presets.length)}</p>
    </>
  );
}

function Details({ name }: { name: string }): VNode {
  const preset = useResource(name, (signal) => readPreset(name, signal));
  const sources = useResource("sources", readSources, POLL_MS);
  return <>{shown(preset, (data) => shown(sources, ({ items }) => <SourceForm preset={data} sources={items} />))}</>;
}

const NAME = "[a-z0-9][a-z0-9\\-]{0,63}";

function SourceForm({ preset, sources }: { preset: Preset; sources: readonly Source[] }): VNode {
  const source = useSignal<NewSource>({ name: preset.name, preset: preset.name });
  const draft = useDraft(source);
  const change = (changes: Partial<NewSource>) => {
    source.value = { ...source.value, ...changes };
  };
  const { name, path = "", expectEvery = "" } = source.value;
  const { answer, failure, retry } = draft.value;
  const usualPath = `/webhook/${name}`;
  const inUse = sources.find((one) => one.name === name && one.preset === preset.name);
  const text = (event: Event) => (event.currentTarget as HTMLInputElement).value.trim();
  return (
    <>
      {preset.note !== null && (
        <p class="note warn">
          {icon("warning")} {preset.note}
        </p>
      )}
      <div class="columns">
        <Section title={t.setup.atProvider(preset.title)}>
          <div class="card">
            {answer && sourceUrl(inUse?.url ?? answer.url)}
            {answer?.needs.some(({ is }) => is === "secret") && <p>{t.setup.enterThere}</p>}
            <p>
              <a href={preset.docs} target="_blank" rel="noreferrer">
                {t.setup.providersPage}
              </a>
            </p>
            {providerFacts(preset)}
          </div>
        </Section>
        <Section title={t.setup.here}>
          <form class="card" onSubmit={(event: Event) => event.preventDefault()}>
            <label>
              {t.setup.name}
              <input
                defaultValue={name}
                pattern={NAME}
                maxLength={64}
                required
                autocomplete="off"
                onChange={(event: Event) => change({ name: text(event) })}
              />
            </label>
            <label>
              {t.setup.path}
              <input
                defaultValue={path}
                placeholder={usualPath}
                autocomplete="off"
                onChange={(event: Event) => change({ path: text(event) || undefined })}
              />
            </label>
            <label>
              {t.setup.expectEvery}
              <input
                defaultValue={expectEvery}
                placeholder="24h"
                autocomplete="off"
                onChange={(event: Event) => change({ expectEvery: text(event) || undefined })}
              />
            </label>
          </form>
          {failure !== null && failedState(failure, retry)}
          {inUse ? <p class="note">{t.setup.isThere(name)}</p> : answer && lines(answer, preset)}
        </Section>
      </div>
      <Section title={t.setup.firstDelivery}>
        <FirstDelivery name={name} path={path || usualPath} source={inUse} />
      </Section>
    </>
  );
}

interface DraftState {
  answer: Draft | null;
  failure: unknown;
  retry: () => void;
}

/** The lines of a source, made anew whenever it changes. */
function useDraft(source: Signal<NewSource>): Signal<DraftState> {
  const state = useSignal<DraftState>({ answer: null, failure: null, retry: () => {} });
  const wanted = source.value;
  const load = async () => {
    try {
      const answer = await draftSource(wanted);
      if (source.value === wanted) state.value = { answer, failure: null, retry: load };
    } catch (failure) {
      if (source.value === wanted) state.value = { ...state.value, failure, retry: load };
    }
  };
  useEffect(() => void load(), [wanted]);
  return state;
}

/** Where a value comes from. */
const hintOf = (is: string, options: Preset["options"]) =>
  options[is] ?? (is === "secret" ? t.setup.secretHint : t.setup.keyHint);

/** The lines to paste. */
function lines(draft: Draft, { options }: Preset): VNode {
  const { needs, file, faults } = draft;
  const yaml = ["sources:", ...draft.lines.map((line) => `  ${line}`)].join("\n");
  const env = needs.map(({ variable }) => `${variable}='…'`).join("\n");
  return (
    <div class="card">
      {faults.length === 0 ? (
        <p>
          {icon("check")} {t.setup.checked(file)}
        </p>
      ) : (
        <div class="note error">
          <p>{t.setup.faulty(file)}</p>
          <ul>
            {faults.map((fault) => (
              <li key={fault}>
                <code>{fault}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      {env !== "" && configLines(".env", env)}
      {needs.map(({ is, variable }) => (
        <p class="small" key={is}>
          <code>{variable}</code>: {hintOf(is, options)}
          {is === "secret" && (
            <>
              {" "}
              {t.setup.makeHow}
              <br />
              <code>openssl rand -hex 32</code>
            </>
          )}
        </p>
      ))}
      {configLines(file, yaml)}
      <p class="soft small">{t.setup.pasteHow}</p>
    </div>
  );
}
