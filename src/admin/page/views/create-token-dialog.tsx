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

/** Asks for what a new token is to have. The server names the scopes if one is wrong. */
export function createTokenDialog({ onCreated, onClose }: CreateProps): VNode {
  return (
    <Confirm
      title={t.tokens.create}
      action={t.tokens.create}
      onClose={onClose}
      onConfirm={async (fields) => {
        const [name = "", scopes = "", days = ""] = ["name", "scopes", "days"].map((field) =>
          String(fields.get(field)),
        );
        const expiresInMs = days === "" ? null : Number(days) * DAY_MS;
        await onCreated(await createToken({ name, scopes: scopes.trim().split(/\s+/), expiresInMs }));
      }}
    >
      <label>
        {t.tokens.name}
        <input name="name" required autocomplete="off" />
      </label>
      <label>
        {t.tokens.scopes}
        <input name="scopes" required value="verify" autocomplete="off" />
      </label>
      <label>
        {t.tokens.days}
        <input name="days" type="number" min="1" value="90" />
      </label>
    </Confirm>
  );
}
