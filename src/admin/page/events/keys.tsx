import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { useChoice } from "../choice.ts";
import { Button } from "../components/button.tsx";
import { closeDialog, Dialog } from "../components/dialog.tsx";
import { t } from "../texts/texts.ts";

const FIELDS = "input:not([type=checkbox]), textarea, select";

/** The links to the events that are shown. */
export const rowLinks = () => [...document.querySelectorAll<HTMLAnchorElement>("a.row")];

/** Moves the focus among the rows. Returns whether there was one to go to. */
function move(step: number): boolean {
  const links = rowLinks();
  const row = document.activeElement?.closest("tr");
  const at = row ? links.findIndex((link) => row.contains(link)) : -1;
  const next = links[at < 0 ? 0 : at + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return next !== undefined;
}

const isInRows = () => document.activeElement?.closest("tbody") !== null && document.activeElement !== document.body;

/** What a key does. Returns whether it did something. */
function press(key: string, showKeys: () => void): boolean {
  switch (key) {
    case "j":
      return move(1);
    case "k":
      return move(-1);
    case "ArrowDown":
      return isInRows() && move(1);
    case "ArrowUp":
      return isInRows() && move(-1);
    case "x":
      document.activeElement?.closest("tr")?.querySelector<HTMLElement>("input[type=checkbox]")?.click();
      return true;
    case "/":
      document.getElementById("filter-search")?.focus();
      return true;
    case "?":
      showKeys();
      return true;
    default:
      return false;
  }
}

function Keys(): VNode {
  const { value: isOpen, choose, close } = useChoice();
  const show = choose(true);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyped = event.target instanceof Element && event.target.matches(FIELDS);
      if (isTyped || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (press(event.key, show)) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  return (
    <>
      <button type="button" class="link" onClick={show}>
        {t.events.keys} <kbd>?</kbd>
      </button>
      {isOpen && help(close)}
    </>
  );
}

const help = (onClose: () => void) => (
  <Dialog title={t.keys.title} onClose={onClose}>
    <dl>
      {entries().map(([keys, meaning]) => (
        <div key={meaning}>
          <dt>
            {keys.map((key) => (
              <>
                <kbd key={key}>{key}</kbd>{" "}
              </>
            ))}
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
    <div class="actions end">
      <Button label={t.close} onClick={closeDialog} />
    </div>
  </Dialog>
);

const entries = () =>
  [
    [["j", "↓"], t.keys.next],
    [["k", "↑"], t.keys.previous],
    [[t.keys.enter], t.keys.open],
    [["x"], t.keys.select],
    [["/"], t.keys.search],
    [["?"], t.keys.help],
  ] as const;

/** Makes the keys of the list work, and shows them. */
export const keys = (): VNode => <Keys />;
