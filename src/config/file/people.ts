import * as v from "valibot";
import { parsePasswordHash } from "../../auth/password-hash.ts";
import { MAX_PEOPLE, othersOf, type PersonEntry } from "../../auth/people/people.ts";
import { canonicalEmail, isEmail } from "../../auth/user.ts";
import { PERSON_NAME } from "../../lib/name.ts";
import { key, listOf, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef } from "./secrets.ts";
import { becomes, map, mapOf } from "./shape.ts";

const WORD_FORM = "1 to 32 small letters, digits and . _ -, e.g. ada";

const PASSWORD_HASH = v.pipe(
  v.string("expected env:NAME or file:PATH"),
  becomes((reference, reading) => {
    const secret = readSecretRef(reference, reading);
    if (secret === null) return null;
    const hash = parsePasswordHash(secret.value);
    if (!("reason" in hash)) return hash;
    const remedy = hash.remedy ?? "expected one made with authserve hash-password";
    return reading.fault(`found ${secret.name}, whose value cannot be used: ${hash.reason}: ${remedy}`);
  }),
);

const PersonSchema = map(
  {
    email: v.pipe(
      v.string("expected an e-mail address"),
      v.check(isEmail, "expected an e-mail address, e.g. ada@example.com"),
      v.description("What the person logs in with. Another address is another person, who inherits nothing."),
    ),
    name: key(
      v.pipe(textLike(/^[^\p{C}]{1,64}$/u, "expected a name of at most 64 characters"), v.trim()),
      "The name that apps show. Default: the id.",
    ),
    passwordHash: key(
      PASSWORD_HASH,
      "Hash of the password, made by `authserve hash-password`, at `env:NAME` or `file:PATH`. Without it the person sets one with the link of `authserve people invite`, or has passkeys only.",
    ),
    groups: key(
      listOf(textLike(PERSON_NAME, `expected a group of ${WORD_FORM}`), "group", "expected a list of groups"),
      "For `allow: [group:NAME]`, `Remote-Groups`, and the claim `groups` of apps.",
    ),
    owner: key(
      v.boolean("expected true or false"),
      "`true`: the admin page, its API and tokens with its scopes belong to this person. Default: false.",
    ),
  },
  "expected a map with email",
  {
    read: ({ email, name, passwordHash, groups, owner }): Omit<PersonEntry, "name"> => ({
      email,
      displayName: name ?? null,
      groups: [...new Set(groups)],
      isOwner: owner ?? false,
      passwordHash: passwordHash ?? null,
    }),
  },
);

/** Who can log in, by id. */
export const PeopleSchema = v.pipe(
  mapOf(textLike(PERSON_NAME, `expected ${WORD_FORM}`), PersonSchema, "expected a map of ids and people"),
  becomes((people, reading) => {
    const entries: PersonEntry[] = Object.entries(people).flatMap(([name, person]) =>
      person === undefined ? [] : [{ name, ...person }],
    );
    checkPeople(entries, reading);
    return entries;
  }),
);

function checkPeople(entries: readonly PersonEntry[], reading: Reading): void {
  if (reading.isWrong) return;
  if (entries.length === 0) reading.fault("found nobody, expected people, or leave it out");
  if (entries.length > MAX_PEOPLE) reading.fault(`found ${entries.length} people, expected at most ${MAX_PEOPLE}`);
  if (entries.length > 0 && !entries.some(({ isOwner }) => isOwner))
    reading.fault("found no owner, expected owner: true for one person or more: the admin page is theirs");
  const emails = new Map<string, string>();
  for (const { name, email } of entries) {
    const other = emails.get(canonicalEmail(email));
    if (other === undefined) emails.set(canonicalEmail(email), name);
    else reading.at(name, "email").fault(`found the e-mail of ${other}, expected one of its own`);
  }
  const { DEMO_USER_ID: id = "1", DEMO_EMAIL: email = "" } = reading.context.environment;
  for (const { name } of othersOf({ email }, entries))
    if (name === id)
      reading.at(name).fault("found the id of DEMO_USER_ID for another e-mail, expected another id", "key");
  if (email !== "" && othersOf({ email }, entries).length === entries.length)
    reading.warn("does not have the e-mail of DEMO_EMAIL: whoever has it can log in as an owner, too");
}
