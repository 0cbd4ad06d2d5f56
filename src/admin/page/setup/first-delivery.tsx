import type { ComponentChildren, VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { RecentRefusal, Source } from "../answers.ts";
import { announce } from "../components/announcer.tsx";
import { badge } from "../components/badge.tsx";
import { remedyOf } from "../components/refusal.tsx";
import { shown } from "../components/states.tsx";
import { ago } from "../components/time.tsx";
import { hashOf } from "../place.ts";
import { listEvents, readRefusals } from "../requests.ts";
import { useResource } from "../resource.ts";
import { eventHref } from "../router.ts";
import { t } from "../texts/texts.ts";
import { misconfigured } from "../views/overview-banners.tsx";

interface WantedSource {
  name: string;
  path: string;
  /** Undefined until it is in the running configuration. */
  source: Source | undefined;
}

export const POLL_MS = 2000;

/** Waits until a new source is in use and has received a delivery. Shows why it has not. */
export function FirstDelivery({ name, path, source }: WantedSource): VNode {
  const refusals = useResource("refusals", readRefusals, POLL_MS);
  const isVerified = (source?.received ?? 0) > 0;
  const state = source === undefined ? t.setup.notInUse(name) : isVerified ? t.setup.verified : t.setup.inUse(name);
  useEffect(() => announce(state), [state]);
  return (
    <div class="card">
      {source === undefined ? notInUse(name) : <p>{badge("good", "check", t.setup.inUse(name))}</p>}
      {shown(refusals, ({ items }) => refusalOf(items, { name, path, source }), null)}
      {source && isVerified ? <Verified source={source} /> : waiting(t.setup.waiting)}
    </div>
  );
}

const waiting = (text: string): VNode => (
  <p class="waiting">
    <span class="pulse" aria-hidden="true" />
    {text}
  </p>
);

const notInUse = (name: string): VNode => (
  <>
    <p>{badge("calm", "clock", t.setup.notInUse(name))}</p>
    {misconfigured() ?? (
      <p>
        {t.setup.reloadHow} <code>authserve reload</code>
      </p>
    )}
  </>
);

/** The newest refused delivery, unless one was accepted later. */
function refusalOf(refusals: readonly RecentRefusal[], wanted: WantedSource): VNode | null {
  const { name, path, source } = wanted;
  const last = Date.parse(source?.lastReceivedAt ?? "") || 0;
  const isOfIt = (one: RecentRefusal) =>
    one.source === null ? one.path === path || one.near === path : one.source === name;
  const found = refusals.find((one) => isOfIt(one) && Date.parse(one.receivedAt) > last);
  if (found === undefined) return null;
  const facts = (
    <>
      {ago(found.receivedAt)}, <code>{found.address}</code>
    </>
  );
  return found.source === null ? stray(found, facts, source !== undefined) : refused(found, facts);
}

const stray = ({ path, near }: RecentRefusal, facts: ComponentChildren, isInUse: boolean): VNode => (
  <div class="note warn">
    <p>
      {t.setup.strayCame} <code>{path}</code> ({facts})
    </p>
    <p>
      {isInUse && near !== null ? (
        <>
          {t.setup.strayPath} <code>{near}</code>
        </>
      ) : (
        t.setup.strayEarly
      )}
    </p>
  </div>
);

const refused = ({ source, reason }: RecentRefusal, facts: ComponentChildren): VNode => (
  <div class="note error">
    <p>
      <strong>{t.setup.wasRefused}</strong> ({facts})
    </p>
    {remedyOf(reason)}
    <p>
      <a href={hashOf(["explain"], { source: source ?? undefined })}>{t.refused.explainOther}</a>
      {" · "}
      <a href={hashOf(["refused"], { source: source ?? undefined })}>{t.setup.seeRefused}</a>
    </p>
  </div>
);

function Verified({ source: { name, received, lastSecret } }: { source: Source }): VNode {
  const newest = useResource(`${name} ${received}`, (signal) => listEvents({ source: name, limit: 1 }, signal));
  return (
    <>
      <p>
        {badge("good", "check", t.setup.verified)}{" "}
        {lastSecret !== null && (
          <>
            {t.event.secret} <code>{lastSecret}</code>
          </>
        )}
      </p>
      <p class="actions">
        {shown(
          newest,
          ({ items: [event] }) =>
            event && (
              <a class="button" href={eventHref(event)}>
                {t.setup.seeEvent}
              </a>
            ),
          null,
        )}
        <a class="button" href={hashOf(["routes"])}>
          {t.setup.toRoutes}
        </a>
        <a href={hashOf(["sources", name])}>{t.setup.toSource(name)}</a>
      </p>
    </>
  );
}
