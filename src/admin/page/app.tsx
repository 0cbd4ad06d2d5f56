import "./styles/styles.css";
import { render, type VNode } from "preact";
import { sessionEnd } from "./api.ts";
import { Heading } from "./components/heading.tsx";
import { layout } from "./components/layout.tsx";
import { place } from "./router.ts";
import { t } from "./texts/texts.ts";
import { AddSource } from "./views/add-source.tsx";
import { Alerts } from "./views/alerts.tsx";
import { Audit } from "./views/audit.tsx";
import { DeadLetters } from "./views/dead-letters.tsx";
import { Denied } from "./views/denied.tsx";
import { EventView } from "./views/event.tsx";
import { Events } from "./views/events.tsx";
import { Explain } from "./views/explain.tsx";
import { Held } from "./views/held.tsx";
import { Outages } from "./views/outages.tsx";
import { Overview } from "./views/overview.tsx";
import { Refused } from "./views/refused.tsx";
import { Route } from "./views/route.tsx";
import { Routes } from "./views/routes.tsx";
import { Session } from "./views/session.tsx";
import { sessionOver } from "./views/session-over.tsx";
import { Source } from "./views/source.tsx";
import { Sources } from "./views/sources.tsx";
import { Tokens } from "./views/tokens.tsx";

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
  if (name === "events" && id !== undefined) return <EventView key={path.join("/")} id={id} source={query.source} />;
  if (name === "routes" && id !== undefined) return <Route key={path.join("/")} name={id} />;
  if (name === "sources" && id !== undefined) return <Source key={path.join("/")} name={id} />;
  if (name === "refused" && id !== undefined) return <Held key={id} id={id} />;
  const View = Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined;
  return View ? <View key={name} /> : notFound();
}

const notFound = () => (
  <>
    <Heading title={t.notFound} />
    <p>
      <a href="#/">{t.toOverview}</a>
    </p>
  </>
);

function App(): VNode {
  return sessionEnd.value === null ? layout(view()) : sessionOver(sessionEnd.value);
}

render(<App />, document.getElementById("app") as HTMLElement);
