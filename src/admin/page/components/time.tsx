import type { VNode } from "preact";
import { now } from "../live.ts";
import { formats, t } from "../texts/texts.ts";

function Ago({ at }: { at: string }): VNode {
  const ms = Date.parse(at);
  return (
    <time datetime={at} title={formats.exact(ms)}>
      {formats.ago(ms, Math.max(now.value, ms))}
    </time>
  );
}

function Until({ at }: { at: string }): VNode {
  const ms = Date.parse(at);
  return (
    <time datetime={at} title={formats.exact(ms)}>
      {formats.ago(ms, now.value)}
    </time>
  );
}

/** A past time, relative to now. The exact time is its title. */
export const ago = (at: string | null, otherwise = t.never): VNode | string =>
  at === null ? otherwise : <Ago at={at} />;

function Coming({ at }: { at: string }): VNode {
  const ms = Date.parse(at);
  return (
    <time datetime={at} title={formats.exact(ms)}>
      {formats.ago(Math.max(ms, now.value), now.value)}
    </time>
  );
}

/** A coming time, relative to now. Once it has come it is now, and never past. */
export const until = (at: string): VNode => <Coming at={at} />;

/** An exact time, and how long ago it was. */
export const exactly = (at: string): VNode => (
  <span>
    <time datetime={at}>{formats.exact(Date.parse(at))}</time>{" "}
    <span class="soft">
      (<Until at={at} />)
    </span>
  </span>
);
