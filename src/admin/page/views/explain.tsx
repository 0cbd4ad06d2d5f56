import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { Explanation, Source } from "../answers.ts";
import { announce } from "../components/announcer.tsx";
import { answerText, explanation } from "../components/explanation.tsx";
import { Heading } from "../components/heading.tsx";
import { Section } from "../components/section.tsx";
import { failureText, shown } from "../components/states.tsx";
import { explainRequest, readSources } from "../requests.ts";
import { useResource } from "../resource.ts";
import { place } from "../router.ts";
import { t } from "../texts/texts.ts";

/** Explains a request that somebody pastes. */
export function Explain(): VNode {
  const sources = useResource("sources", readSources);
  return (
    <>
      <Heading title={t.refused.explainOther} back="refused" />
      <p class="soft">{t.refused.explainHow}</p>
      {shown(sources, ({ items }) => (
        <ExplainForm sources={items} />
      ))}
    </>
  );
}

function ExplainForm({ sources }: { sources: readonly Source[] }): VNode {
  const result = useSignal<Explanation | null>(null);
  const failure = useSignal("");
  const chosen = place.value.query.source;
  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(fields.get(name) ?? "");
    try {
      result.value = await explainRequest({ source: text("source"), request: text("request"), at: timeOf(text("at")) });
      failure.value = "";
      announce(answerText(result.value.answer.status, [result.value.answer.code]));
    } catch (error) {
      result.value = null;
      failure.value = failureText(error);
    }
  }
  return (
    <>
      <form class="card" onSubmit={onSubmit}>
        <label class="narrow">
          {t.sources.source}
          <select name="source">
            {sources.map(({ name }) => (
              <option key={name} value={name} selected={name === chosen}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="narrow">
          {t.refused.at}
          <input name="at" type="datetime-local" step="1" />
        </label>
        <label>
          {t.refused.request}
          <textarea
            name="request"
            rows={14}
            required
            spellcheck={false}
            placeholder={"POST /webhook/shop HTTP/1.1\nContent-Type: application/json\nX-Signature: …\n\n{ … }"}
          />
        </label>
        <button type="submit">{t.refused.explain}</button>
      </form>
      <div role="alert">{failure.value !== "" && <p class="note error">{failure.value}</p>}</div>
      {result.value !== null && <Section title={t.refused.checks}>{explanation(result.value)}</Section>}
    </>
  );
}

const timeOf = (local: string) => (local === "" ? undefined : new Date(local).toISOString());
