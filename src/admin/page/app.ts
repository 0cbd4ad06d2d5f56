import "./styles/styles.css";
import { render, type VNode } from "preact";
import { sessionEnd } from "./api.ts";
import { heading } from "./components/heading.ts";
import { layout } from "./components/layout.ts";
import { element, html } from "./html.ts";
import { place } from "./router.ts";
import { t } from "./texts/texts.ts";
import { AddSource } from "./views/add-source.ts";
import { Alerts } from "./views/alerts.ts";
import { Audit } from "./views/audit.ts";
import { DeadLetters } from "./views/dead-letters.ts";
import { Denied } from "./views/denied.ts";
import { EventView } from "./views/event.ts";
import { Events } from "./views/events.ts";
import { Explain } from "./views/explain.ts";
import { Held } from "./views/held.ts";
import { Outages } from "./views/outages.ts";
import { Overview } from "./views/overview.ts";
import { Refused } from "./views/refused.ts";
import { Route } from "./views/route.ts";
import { Routes } from "./views/routes.ts";
import { Session } from "./views/session.ts";
import { sessionOver } from "./views/session-over.ts";
import { Source } from "./views/source.ts";
import { Sources } from "./views/sources.ts";
import { Tokens } from "./views/tokens.ts";

const VIEWS: Record<string, () => VNode> = {
  "": Overview,
  events: Events,
  "dead-letters": DeadLetters,
  refused: Refused,
  explain: Explain,
  routes: Routes,
  sources: Sources,
  "add-source": AddSource,
  outages: Outages,
  alerts: Alerts,
  tokens: Tokens,
  denied: Denied,
  audit: Audit,
  session: Session,
};

function view(): VNode {
  const { path, query } = place.value;
  const [name = "", id] = path;
  if (name === "events" && id !== undefined)
    return element(EventView, { key: path.join("/"), id, source: query.source });
  if (name === "routes" && id !== undefined) return element(Route, { key: path.join("/"), name: id });
  if (name === "sources" && id !== undefined) return element(Source, { key: path.join("/"), name: id });
  if (name === "refused" && id !== undefined) return element(Held, { key: id, id });
  const View = Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined;
  return View ? element(View, { key: name }) : notFound();
}

const notFound = () => html`${heading(t.notFound)}<p><a href="#/">${t.toOverview}</a></p>`;

function App(): VNode {
  return sessionEnd.value === null ? layout(view()) : sessionOver(sessionEnd.value);
}

render(element(App, {}), document.getElementById("app") as HTMLElement);
