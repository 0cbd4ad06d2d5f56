import { faultText } from "../errors.ts";
import { listed } from "../operations/people.ts";
import { faultOfWaiting, readKnownPeople } from "./known-people.ts";
import { withPerformer } from "./operate.ts";
import { printJson, say } from "./output.ts";
import type { RemoteOptions } from "./remote.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

/** Prints everybody who can log in, with the live session of each. */
export function runPeopleList({
  utc,
  json,
  ...remote
}: RemoteOptions & { utc?: boolean; json?: boolean }): Promise<void> {
  return withPerformer(remote, async ({ perform, stores, now }) => {
    const { items } = await perform(listed, {});
    if (json) return printJson(items);
    const format = timeFormat(utc, now());
    const time = (text: string | null) => (text === null ? "never" : format(Date.parse(text)));
    const rows = items.map(({ name, id, email, owner, groups, password, factors, session, lastLoginAt }) => [
      name,
      id,
      email,
      owner ? "yes" : "no",
      groups.join(" ") || "-",
      password ?? "none",
      String(factors),
      session === null ? "none" : `until ${time(session.expiresAt)} from ${session.network ?? "unknown"}`,
      time(lastLoginAt),
    ]);
    printTable(
      [
        "NAME",
        "ID",
        { heading: "E-MAIL", leastWidth: 12 },
        "OWNER",
        { heading: "GROUPS", leastWidth: 8 },
        "PASSWORD",
        "FACTORS",
        "SESSION",
        "LAST LOGIN",
      ],
      rows,
    );
    if (stores === null) return;
    const { waiting } = await readKnownPeople(stores);
    if (waiting.length > 0) say(`warning: ${faultText(faultOfWaiting(waiting))}`);
  });
}
