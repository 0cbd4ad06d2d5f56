import { type Signal, useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Draft, NewSource, Preset, Source } from "../answers.ts";
import { announce } from "../components/announcer.tsx";
import { Button } from "../components/button.tsx";
import { Heading } from "../components/heading.tsx";
import { icon } from "../components/icon.tsx";
import { Section } from "../components/section.tsx";
import { failedState, failureText, shown } from "../components/states.tsx";
import { hashOf } from "../place.ts";
import { addSource, draftSource, listPresets, readPreset, readSources } from "../requests.ts";
import { useResource } from "../resource.ts";
import { changeQuery, place } from "../router.ts";
import { newSecret } from "../setup/app-code.ts";
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
  const source = useSignal<NewSource>({ name: preset.name, preset: preset.name, values: {} });
  const draft = useDraft(source);
  const change = (changes: Partial<NewSource>) => {
    source.value = { ...source.value, ...changes };
  };
  const { name, path = "", expectEvery = "", values } = source.value;
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
                value={name}
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
                value={path}
                placeholder={usualPath}
                autocomplete="off"
                onChange={(event: Event) => change({ path: text(event) || undefined })}
              />
            </label>
            <label>
              {t.setup.expectEvery}
              <input
                value={expectEvery}
                placeholder="24h"
                autocomplete="off"
                onChange={(event: Event) => change({ expectEvery: text(event) || undefined })}
              />
            </label>
            {answer?.writable && answer.needs.map(({ is }) => needField(is, preset, values, change))}
          </form>
          {failure !== null && failedState(failure, retry)}
          {inUse ? <p class="note">{t.setup.isThere(name)}</p> : answer && lines(answer, source.value, preset)}
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

function needField(
  is: string,
  { options }: Preset,
  values: Readonly<Record<string, string>>,
  change: (changes: Partial<NewSource>) => void,
): VNode {
  const set = (value: string) => change({ values: { ...values, [is]: value } });
  const label = is === "secret" ? t.setup.secret : is === "key" ? t.setup.key : is;
  return (
    <div key={is}>
      <label>
        {label}
        <input
          type="text"
          value={values[is] ?? ""}
          autocomplete="off"
          spellcheck={false}
          onChange={(event: Event) => set((event.currentTarget as HTMLInputElement).value.trim())}
        />
      </label>
      <p class="soft small">
        {hintOf(is, options)}
        {is === "secret" && (
          <>
            {" "}
            <Button class="link" label={t.setup.makeSecret} onClick={() => set(newSecret())} />
          </>
        )}
      </p>
    </div>
  );
}

/** Where a value comes from. */
const hintOf = (is: string, options: Preset["options"]) =>
  options[is] ?? (is === "secret" ? t.setup.secretHint : t.setup.keyHint);

/** The lines to paste, or the button that writes them. */
function lines(draft: Draft, source: NewSource, { options }: Preset): VNode {
  const { needs, file, faults, writable } = draft;
  const yaml = ["sources:", ...draft.lines.map((line) => `  ${line}`)].join("\n");
  const env = needs.map(({ is, variable }) => `${variable}='${source.values[is] ?? "…"}'`).join("\n");
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
      {writable && (
        <WriteButton source={source} isReady={faults.length === 0 && needs.every(({ is }) => source.values[is])} />
      )}
      {env !== "" && configLines(".env", env)}
      {!writable &&
        needs.map(({ is, variable }) => (
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

function WriteButton({ source, isReady }: { source: NewSource; isReady: boolean }): VNode {
  const result = useSignal<{ text: string; isBad: boolean } | null>(null);
  async function onClick(): Promise<void> {
    if (!isReady) return;
    try {
      const { file, backup } = await addSource(source);
      result.value = {
        text: [t.setup.written(file), ...(backup === null ? [] : [t.setup.backup(backup)])].join(" "),
        isBad: false,
      };
    } catch (error) {
      result.value = { text: failureText(error), isBad: true };
    }
    announce(result.value.text);
  }
  return (
    <>
      <button type="button" disabled={!isReady} onClick={onClick}>
        {t.setup.write}
      </button>
      {!isReady && <p class="soft small">{t.setup.writeNeeds}</p>}
      {result.value !== null && (
        <p class={`note ${result.value.isBad ? "error" : ""}`}>
          {result.value.text} <a href={hashOf(["sources", source.name])}>{source.name}</a>
        </p>
      )}
    </>
  );
}
