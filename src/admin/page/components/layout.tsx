import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useEffect } from "preact/hooks";
import { deadLetters, firing, keepLive, now, status } from "../live.ts";
import { manualPageOf } from "../manual.ts";
import { hashOf } from "../place.ts";
import { place } from "../router.ts";
import { keepSession } from "../session-keeper.ts";
import { formats, t } from "../texts/texts.ts";
import { isUtc, switchZone } from "../utc.ts";
import { Announcer } from "./announcer.tsx";
import { Button } from "./button.tsx";
import { SessionNotice } from "./session-notice.tsx";
import { StaleNotice } from "./stale-notice.tsx";

const LINKS = [
  { path: [], name: "overview" },
  { path: ["events"], name: "events" },
  { path: ["dead-letters"], name: "deadLetters" },
  { path: ["refused"], name: "refused" },
  { path: ["routes"], name: "routes" },
  { path: ["sources"], name: "sources" },
  { path: ["outages"], name: "outages" },
  { path: ["alerts"], name: "alerts" },
  { path: ["tokens"], name: "tokens" },
  { path: ["denied"], name: "denied" },
  { path: ["audit"], name: "audit" },
  { path: ["session"], name: "session" },
] as const;

/** Views that belong to another one. */
const PARENTS: Record<string, string> = {
  "add-source": "sources",
  explain: "refused",
};

type Name = (typeof LINKS)[number]["name"];

/** The counts beside a link, and what they say. */
function countOf(name: Name): { count: number; meaning: string } | null {
  if (name === "deadLetters") return { count: deadLetters.value, meaning: t.navDeadLetters(deadLetters.value) };
  if (name === "alerts") return { count: firing.value.length, meaning: t.navAlerts(firing.value.length) };
  return null;
}

const brand = (
  <span class="brand">
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" fill="#1b5bc0" />
      <path d="M12 5a3.6 3.6 0 0 0-1.7 6.8L9.3 18.5h5.4l-1-6.7A3.6 3.6 0 0 0 12 5z" fill="#fff" />
    </svg>
    authserve
  </span>
);

function Link({ path, name }: { path: readonly string[]; name: Name }): VNode {
  const [view = ""] = place.value.path;
  const isCurrent = (PARENTS[view] ?? view) === (path[0] ?? "");
  const count = countOf(name);
  return (
    <li>
      <a href={hashOf(path)} aria-current={isCurrent ? "page" : undefined}>
        {t.views[name]}
        {count !== null && count.count > 0 && (
          <>
            <span class="count" aria-hidden="true">
              {formats.compact(count.count)}
            </span>
            <span class="offscreen">, {count.meaning}</span>
          </>
        )}
      </a>
    </li>
  );
}

function Navigation(): VNode {
  const isOpen = useSignal(false);
  const { path } = place.value;
  // A phone's menu closes when the view changes.
  useEffect(() => {
    isOpen.value = false;
  }, [path.join("/")]);
  const toggle = () => {
    isOpen.value = !isOpen.value;
  };
  return (
    <nav aria-label={t.mainNavigation} class={isOpen.value ? "open" : ""}>
      <button
        type="button"
        class="quiet menu"
        aria-expanded={isOpen.value ? "true" : "false"}
        aria-controls="links"
        onClick={toggle}
      >
        {t.menu}
        {deadLetters.value + firing.value.length > 0 && (
          <>
            {" "}
            <span class="count">{formats.compact(deadLetters.value + firing.value.length)}</span>
          </>
        )}
      </button>
      <ul id="links">
        {LINKS.map(({ path, name }) => (
          <Link key={name} path={path} name={name} />
        ))}
      </ul>
    </nav>
  );
}

function Layout({ children }: { children: ComponentChildren }): VNode {
  useEffect(keepLive, []);
  useEffect(keepSession, []);
  const { version, manual } = status.data.value ?? {};
  const zone = formats.zone(now.value);
  const [view = ""] = place.value.path;
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it goes to a part of the page, whose address stays */}
      <a class="skip" href="#content" onClick={skip}>
        {t.skip}
      </a>
      <header>
        {brand}
        <Navigation />
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer class="soft small">
        <p>
          {t.zone(zone)}{" "}
          {(isUtc || zone !== "UTC") && (
            <Button class="quiet small" label={isUtc ? t.showLocal : t.showUtc} onClick={switchZone} />
          )}
        </p>
        {manual === true && (
          <p>
            <a href={`../docs/${manualPageOf(view)}.html`} target="_blank" rel="noreferrer">
              {t.manual}
            </a>
          </p>
        )}
        {version !== undefined && <p>authserve {version}</p>}
      </footer>
      <SessionNotice />
      <StaleNotice />
      <Announcer />
    </>
  );
}

/** Moves the focus by script: the hash of the address is the place. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

/** The frame of every view: navigation, and what keeps its counts fresh. */
export const layout = (children: ComponentChildren): VNode => <Layout>{children}</Layout>;
