import type { PersonRecord, PersonStore } from "../auth/people/store.ts";
import { change, changed, type Query, type QueryPort, row, rows } from "./query.ts";

const LIST = `
SELECT id, email, mark, password_hash AS "passwordHash" FROM authserve.people ORDER BY id`;

/** Adds a person: id, e-mail, mark. */
const ADD = `
INSERT INTO authserve.people (id, email, mark) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`;

/** Removes what is of an account, and not of a session. */
const REMOVALS = [
  "DELETE FROM authserve.people WHERE id = $1",
  "DELETE FROM authserve.person_factors WHERE account = $1",
  "DELETE FROM authserve.person_codes WHERE account = $1",
  "DELETE FROM authserve.person_logins WHERE account = $1",
  "DELETE FROM authserve.person_networks WHERE account = $1",
  "DELETE FROM authserve.machine_tokens WHERE substr(name, 1, length($1::text) + 1) = $1::text || '/'",
  "DELETE FROM authserve.client_tokens WHERE user_id = $1",
  "DELETE FROM authserve.client_consents WHERE user_id = $1",
  "UPDATE authserve.client_codes SET is_revoked = true WHERE user_id = $1",
];

/** Accounts that have something, and are of nobody. A store of an earlier time may have them. */
const STRAYS = `
SELECT DISTINCT account FROM (
  SELECT account FROM authserve.person_factors UNION SELECT account FROM authserve.person_codes
  UNION SELECT account FROM authserve.person_logins UNION SELECT account FROM authserve.person_networks
) AS found WHERE account NOT IN (SELECT id FROM authserve.people)`;

/** A link, by its digest, that has not expired at the time `$3`. */
const VALID = "invitation = $1 AND invitation_ends_at > $3::bigint";

function* remove(id: string): Query<void> {
  for (const text of REMOVALS) yield* changed(text, id);
}

/** Keeps who is in the configuration file. */
export const personStore: QueryPort<PersonStore> = {
  *take(people, removed, mark) {
    yield* changed("LOCK TABLE authserve.people IN SHARE ROW EXCLUSIVE MODE");
    const known = yield* rows<PersonRecord>(LIST);
    const isIn = ({ id, email }: Pick<PersonRecord, "id" | "email">) =>
      people.some((one) => one.id === id && one.email === email);
    const strays = yield* rows<{ account: string }>(STRAYS);
    const gone = new Set([
      ...known
        .filter((one) => !isIn(one) || removed.some(({ id, mark }) => id === one.id && mark === one.mark))
        .map(({ id }) => id),
      ...strays.map(({ account }) => account),
    ]);
    for (const { id } of people) if (!known.some((one) => one.id === id)) gone.add(id);
    for (const id of gone) yield* remove(id);
    for (const { id, email } of people) yield* changed(ADD, id, email, mark);
    return [...gone].filter((id) => !people.some((one) => one.id === id));
  },
  list: () => rows<PersonRecord>(LIST),
  passwordHash: (id) =>
    row<{ hash: string | null }>("SELECT password_hash AS hash FROM authserve.people WHERE id = $1", id).as(
      (found) => found?.hash ?? null,
    ),
  setPassword: (id, hash) =>
    change("UPDATE authserve.people SET password_hash = $2, invitation = NULL WHERE id = $1", id, hash).as(
      (count) => count === 1,
    ),
  invite: (id, digest, expiresAt) =>
    change(
      `UPDATE authserve.people SET invitation = $2, invitation_ends_at = $3::bigint, invitation_browser = NULL
      WHERE id = $1`,
      id,
      digest,
      Math.round(expiresAt),
    ).as((count) => count === 1),
  openInvitation: (digest, browser, now) =>
    row<{ id: string }>(
      `UPDATE authserve.people SET invitation_browser = $2
      WHERE ${VALID} AND coalesce(invitation_browser, $2) = $2 RETURNING id`,
      digest,
      browser,
      Math.round(now),
    ).as((found) => found?.id ?? null),
  useInvitation: (digest, browser, now) =>
    row<{ id: string }>(
      `UPDATE authserve.people SET invitation = NULL, invitation_ends_at = NULL, invitation_browser = NULL
      WHERE ${VALID} AND invitation_browser = $2 RETURNING id`,
      digest,
      browser,
      Math.round(now),
    ).as((found) => found?.id ?? null),
};
