import type { VNode } from "preact";
import type { CreatedToken } from "../answers.ts";
import { confirm } from "../components/confirm.ts";
import { createToken } from "../endpoints.ts";
import { html } from "../html.ts";
import { t } from "../texts/texts.ts";

const SCOPES = ["verify", "events:read", "events:write", "listen", "metrics"];
const DAYS = ["30", "90", "365", "never"] as const;
const DAY_MS = 86_400_000;

interface CreateProps {
  onCreated: (token: CreatedToken) => Promise<void>;
  onClose: () => void;
}

/** Asks for what a new token is to have. */
export function createTokenDialog({ onCreated, onClose }: CreateProps): VNode {
  return confirm({
    title: t.tokens.create,
    action: t.tokens.create,
    onClose,
    children: html`<label>${t.tokens.name}<input name="name" required maxlength="64" pattern="[a-z0-9][a-z0-9\\-]*" title=${t.tokens.nameHint} autocomplete="off" /></label>
      <fieldset><legend>${t.tokens.scopes}</legend>${SCOPES.map(
        (scope) =>
          html`<label class="radio" key=${scope}><input type="checkbox" name="scope" value=${scope} /><code>${scope}</code></label>`,
      )}</fieldset>
      <label>${t.tokens.host}<input name="host" maxlength="253" autocomplete="off" placeholder="app.example.com" /></label>
      <fieldset><legend>${t.tokens.expires}</legend>${DAYS.map(
        (days) =>
          html`<label class="radio" key=${days}><input type="radio" name="days" value=${days} checked=${days === "90"} />${t.tokens.days[days]}</label>`,
      )}</fieldset>`,
    async onConfirm(fields) {
      const host = String(fields.get("host") ?? "").trim();
      const days = String(fields.get("days"));
      const scopes = [...fields.getAll("scope").map(String), ...(host === "" ? [] : [`verify:${host}`])];
      const expiresInMs = days === "never" ? null : Number(days) * DAY_MS;
      await onCreated(await createToken({ name: String(fields.get("name")), scopes, expiresInMs }));
    },
  });
}
