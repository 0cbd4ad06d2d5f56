import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { BulkAction, EventDetail } from "../answers.ts";
import { useChoice } from "../choice.ts";
import { statusBadge } from "../components/badge.tsx";
import { BulkDialog } from "../components/bulk-dialog.tsx";
import { Button } from "../components/button.tsx";
import { CopyButton } from "../components/copy-button.tsx";
import { Heading } from "../components/heading.tsx";
import { lazyDetails } from "../components/lazy-details.tsx";
import { Payload } from "../components/payload.tsx";
import { Section } from "../components/section.tsx";
import { shown, skeleton } from "../components/states.tsx";
import { terms } from "../components/table.tsx";
import { exactly } from "../components/time.tsx";
import { curlCommand } from "../curl.ts";
import { conflicts } from "../event/conflicts.tsx";
import { headers } from "../event/headers.tsx";
import { jobs } from "../event/jobs.tsx";
import { repeats } from "../event/repeats.tsx";
import { verdicts } from "../event/verdicts.tsx";
import { lastListHref, neighboursOf } from "../events/kept-list.ts";
import { status } from "../live.ts";
import { printable } from "../printable.ts";
import { payloadUrl, readEvent, readSources } from "../requests.ts";
import { poll, useResource } from "../resource.ts";
import { eventHref } from "../router.ts";
import { t } from "../texts/texts.ts";
import { eraseDialog } from "./erase-dialog.tsx";

const QUEUED_MS = 3000;

/** An event: what came, what was done with it, and what can be done. */
export function EventView({ id, source }: { id: string; source: string | undefined }): VNode {
  const event = useResource(JSON.stringify([id, source]), (signal) => readEvent(id, source, signal));
  const isQueued = event.data.value?.status === "queued";
  useEffect(() => (isQueued ? poll(event.reload, QUEUED_MS) : undefined), [event, isQueued]);
  const isAmbiguous = event.failure.value?.code === "ambiguous_event";
  return (
    <>
      <div class="bar">
        <a href={lastListHref()}>← {t.event.back}</a>
        {event.data.value && steps(event.data.value)}
      </div>
      <Heading title={printable(id)} />
      {isAmbiguous ? <SourceChoice id={id} /> : shown(event, (data) => detail(data, event.reload), skeleton(12))}
    </>
  );
}

/** To the events before and after it in the list. */
function steps(event: EventDetail): VNode {
  const { newer, older } = neighboursOf(event);
  return (
    <span class="actions">
      {newer && <a href={eventHref(newer)}>↑ {t.event.newer}</a>}{" "}
      {older && <a href={eventHref(older)}>↓ {t.event.older}</a>}
    </span>
  );
}

function SourceChoice({ id }: { id: string }): VNode {
  const sources = useResource("sources", readSources);
  return (
    <>
      <h2>{t.event.ambiguous}</h2>
      <p>{t.event.chooseSource}</p>
      {shown(sources, ({ items }) => (
        <ul>
          {items.map(({ name }) => (
            <li key={name}>
              <a href={eventHref({ eventId: id, source: name })}>{name}</a>
            </li>
          ))}
        </ul>
      ))}
    </>
  );
}

const detail = (event: EventDetail, reload: () => Promise<void>) => (
  <>
    <p class="badges">
      {statusBadge(event.status)} <span>{printable(event.type)}</span> <span class="soft">{event.source}</span>
    </p>
    <Actions event={event} reload={reload} />
    <div class="columns">
      <Section title={t.event.payload}>{payloadOf(event)}</Section>
      <Section title={t.event.jobs}>{jobs(event)}</Section>
      <div>
        {conflicts(event.conflicts)}
        {repeats(event)}
        {verdicts(event)}
        <Section title={t.event.origin}>
          <div class="card">{origin(event)}</div>
        </Section>
        <Section title={t.event.headers}>{headers(event.headers)}</Section>
      </div>
    </div>
  </>
);

function Actions({ event, reload }: { event: EventDetail; reload: () => Promise<void> }): VNode {
  const { value: chosen, choose, close } = useChoice<BulkAction | "erase">();
  const onClose = (hasChanged: boolean) => {
    close();
    if (hasChanged) void Promise.all([reload(), status.reload()]);
  };
  if (event.erased !== null) return erasedNote(event.erased);
  const statuses = event.jobs.map((job) => job.status);
  const hasFailed = statuses.includes("failed");
  const selections = [{ ids: [event.eventId], source: event.source }];
  return (
    <div class="actions">
      {hasFailed && <Button label={`${t.events.replay}…`} onClick={choose("replay")} />}
      {(hasFailed || statuses.includes("queued")) && (
        <Button class="quiet" label={`${t.events.discard}…`} onClick={choose("discard")} />
      )}
      <Button class="quiet" label={`${t.event.resend}…`} onClick={choose("resend")} />
      <CopyButton label={t.event.copyId} done={t.event.idCopied} text={() => event.eventId} />
      <CopyButton
        label={t.event.copyLink}
        done={t.event.linkCopied}
        text={() => new URL(eventHref(event), document.baseURI).href}
      />
      <a class="button" href={payloadUrl(event)} download>
        {t.event.download}
      </a>
      {copyCurl(event)}
      <Button class="quiet danger" label={`${t.event.erase}…`} onClick={choose("erase")} />
      {chosen === "erase" && eraseDialog(event, onClose)}
      {chosen && chosen !== "erase" && (
        <BulkDialog action={chosen} selections={selections} count={1} onClose={onClose} />
      )}
    </div>
  );
}

const erasedNote = ({ erasedAt, reason, payloadSha256 }: NonNullable<EventDetail["erased"]>): VNode => (
  <div class="note">
    {terms([
      [t.event.erased, exactly(erasedAt)],
      [t.bulk.reason, reason],
      ["SHA-256", <code>{payloadSha256}</code>],
    ])}
  </div>
);

/** An id or a type as the server sends it. */
const headerOf = (text: string) => (/^[!-$&-~]+$/.test(text) ? text : encodeURIComponent(text.toWellFormed()));

const LOCAL = "http://localhost:8080";

/** The command for each target of the event, and for an app on the reader's machine. */
function copyCurl(event: EventDetail): VNode | null {
  const { payload, payloadBase64, contentType, eventId, type, source } = event;
  if (payload === null) return null;
  const headers = { "X-Event-Id": headerOf(eventId), "X-Event-Type": headerOf(type), "X-Event-Source": source };
  const commandTo = (url: string) => curlCommand({ payload, payloadBase64, contentType, url, headers });
  if (commandTo(LOCAL) === null) return <span class="soft small">{t.event.noCurl}</span>;
  const targets = targetsOf(event);
  const path = targets[0] && URL.parse(targets[0].url)?.pathname;
  const all = [...targets, { name: "localhost", url: LOCAL + (path ?? "/") }];
  return lazyDetails(t.event.copyCurl, () => (
    <>
      <div class="actions">
        {all.map(({ name, url }) => (
          <CopyButton
            key={name}
            label={t.event.curlTo(name)}
            done={t.event.curlCopied}
            text={() => commandTo(url) ?? ""}
          />
        ))}
      </div>
      <p class="soft small">{t.event.curlUnsigned}</p>
    </>
  ));
}

/** The addresses of the routes that have taken an event. */
function targetsOf({ jobs }: EventDetail): { name: string; url: string }[] {
  const routes = status.data.value?.routes ?? [];
  return jobs.flatMap(({ route }) => {
    const { handler, target = null } = routes.find(({ name }) => name === route) ?? {};
    return handler === "http" && target !== null ? [{ name: route, url: target }] : [];
  });
}

function payloadOf(event: EventDetail): VNode {
  if (event.payload !== null) return <Payload text={event.payload} />;
  return (
    <div class="empty">
      <p>{t.event.tooLarge}</p>
      <p>
        <a class="button" href={payloadUrl(event)} download>
          {t.event.download}
        </a>
      </p>
    </div>
  );
}

const origin = ({ address, secret, contentType, malformed, receivedAt, processedAt }: EventDetail) =>
  terms([
    [t.event.received, exactly(receivedAt)],
    ...(processedAt === null ? [] : [[t.event.processed, exactly(processedAt)] as const]),
    [t.event.address, <code>{address}</code>],
    [t.event.secret, <code>{secret}</code>],
    [t.event.contentType, <code>{printable(contentType)}</code>],
    ...(malformed === null ? [] : [[t.event.malformed, malformed] as const]),
  ]);
