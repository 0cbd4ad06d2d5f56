import type { VNode } from "preact";
import type { CreatedToken } from "../answers.ts";
import { Confirm } from "../components/confirm.tsx";
import { DAY_MS } from "../format.ts";
import { createToken } from "../requests.ts";
import { t } from "../texts/texts.ts";

interface CreateProps {
  onCreated: (token: CreatedToken) => Promise<void>;
  onClose: () => void;
}

const scopeAt = (scope: string, host: string) => (scope === "verify" && host !== "" ? `verify:${host}` : scope);

/** Asks for what a new token is to have. The server names the scopes if one is wrong. */
export function createTokenDialog({ onCreated, onClose }: CreateProps): VNode {
  return (
    <Confirm
      title={t.tokens.create}
      action={t.tokens.create}
      onClose={onClose}
      onConfirm={async (fields) => {
        const [name = "", host = "", days = ""] = ["name", "host", "days"].map((field) => String(fields.get(field)));
        const expiresInMs = days === "" ? null : Number(days) * DAY_MS;
        const scopes = fields.getAll("scope").map((scope) => scopeAt(String(scope), host.trim()));
        await onCreated(await createToken({ name, scopes, expiresInMs }));
      }}
    >
      <label>
        {t.tokens.name}
        <input name="name" required autocomplete="off" />
      </label>
      <fieldset class="choices">
        <legend>{t.tokens.scopes}</legend>
        {Object.entries(t.tokens.scope).map(([scope, meaning]) => (
          <label key={scope} class="toggle">
            <input type="checkbox" name="scope" value={scope} />
            <span>
              <code>{scope}</code> <span class="soft">{meaning}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <label>
        {t.tokens.host}
        <input name="host" autocomplete="off" placeholder="dav.example.com" />
      </label>
      <label>
        {t.tokens.days}
        <input name="days" type="number" min="1" value="90" />
      </label>
    </Confirm>
  );
}
