import type { VNode } from "preact";
import { icon } from "../components/icon.tsx";
import { firing, status } from "../live.ts";
import { hashOf } from "../place.ts";
import { printable } from "../printable.ts";
import { alertText, alertTitle, named, t } from "../texts/texts.ts";

/** What needs attention: refused deliveries, a faulty configuration file, alerts that fire, and paused routes. */
export const banners = (): VNode => (
  <div class="banners">
    {refused()}
    {misconfigured()}
    {fired()}
    {paused()}
  </div>
);

function refused(): VNode | null {
  const reason = status.data.value?.paused;
  if (!reason) return null;
  return (
    <p class="note error" role="alert">
      {icon("warning")} <strong>{t.overview.paused}.</strong> {named(t.overview.pausedBy, reason) ?? reason}
    </p>
  );
}

/** Why the newest configuration file is not in use. */
export function misconfigured(): VNode | null {
  const fault = status.data.value?.configFault;
  if (!fault) return null;
  return (
    <div class="note error" role="alert">
      <p>
        {icon("warning")} <strong>{t.overview.configFault}</strong>
      </p>
      <pre tabIndex={0}>{printable(fault)}</pre>
    </div>
  );
}

const SHOWN = 3;

function fired(): VNode | null {
  const all = firing.value;
  if (all.length === 0) return null;
  return (
    <div class="note error">
      <p>
        {icon("bell")}{" "}
        <strong>
          <a href={hashOf(["alerts"])}>{t.overview.alertsFire(all.length)}</a>
        </strong>
      </p>
      <ul>
        {all.slice(0, SHOWN).map(({ id, name, title, summary }) => (
          <li key={id}>
            <strong>{alertTitle(name, title)}</strong>: {alertText(name, summary)}
          </li>
        ))}
        {all.length > SHOWN && (
          <li>
            <a href={hashOf(["alerts"])}>{t.showMore(all.length - SHOWN)}</a>
          </li>
        )}
      </ul>
    </div>
  );
}

function paused(): VNode | null {
  const names = status.data.value?.routes.filter(({ pausedAt }) => pausedAt !== null).map(({ name }) => name) ?? [];
  if (names.length === 0) return null;
  return (
    <p class="note">
      {icon("pause")} <a href={hashOf(["routes"])}>{t.overview.routesPaused(names.join(", "))}</a>
    </p>
  );
}
