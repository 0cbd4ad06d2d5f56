import * as v from "valibot";
import { type PlannedKey, planOf } from "../auth/clients/key-rotation.ts";
import { rotateKeys } from "../auth/clients/signing-keys.ts";
import type { StoredSigningKey } from "../auth/clients/store.ts";
import { isoTime } from "../lib/iso-time.ts";
import { cursor, timestamp } from "./fields.ts";
import { change, reading } from "./operation.ts";

// The keys that sign tokens for apps, without their private part.

const ALGORITHMS = ["RS256", "ES256"] as const;

const KeyItem = v.object({
  id: v.string(),
  algorithm: v.picklist(ALGORITHMS),
  state: v.pipe(
    v.picklist(["waits", "signs", "kept", "unreadable"]),
    v.description(
      "`waits`: it is published, and signs later. `kept`: it is published for what it has signed. `unreadable`: it cannot be decrypted.",
    ),
  ),
  signsFrom: timestamp,
  signsUntil: v.pipe(v.nullable(timestamp), v.description("When another one takes over. Null: there is none yet.")),
  keptUntil: v.pipe(v.nullable(timestamp), v.description("When it is removed. Null as `signsUntil`.")),
  fault: v.pipe(v.nullable(v.string()), v.description("Why it cannot be decrypted.")),
});

function itemOf({ key, state, signsUntil, keptUntil }: PlannedKey): v.InferInput<typeof KeyItem> {
  const { id, algorithm, signsFrom, fault } = key;
  const [until, kept] = [isoTime(signsUntil), isoTime(keptUntil)];
  return { id, algorithm, state, signsFrom: isoTime(signsFrom), signsUntil: until, keptUntil: kept, fault };
}

const itemsOf = (keys: readonly StoredSigningKey[], now: number) =>
  ALGORITHMS.flatMap((algorithm) => planOf(keys, algorithm, now)).map(itemOf);

export const listed = reading({
  path: "keys",
  scope: "manage",
  summary: "Lists the keys that sign tokens for apps.",
  input: v.object({}),
  output: v.object({ items: v.array(KeyItem), cursor }),
  run: async ({ stores: { clients, now } }) => ({ items: itemsOf(await clients.signingKeys(), now()), cursor: null }),
});

export const rotate = change({
  path: "keys/rotate",
  scope: "manage",
  summary: "Makes the next key of each algorithm that has one, unless a key waits already.",
  input: v.object({
    atOnce: v.optional(
      v.pipe(v.boolean(), v.description("Sign with the new keys from now on, also if the present ones are lost.")),
    ),
  }),
  output: v.object({ made: v.pipe(v.array(v.string()), v.description("Ids.")), items: v.array(KeyItem) }),
  problems: ["signing_key_unreadable"],
  audited: {
    action: "key.rotate",
    asked: ({ atOnce }) => (atOnce ? { atOnce } : {}),
    outcome: ({ made }) => (made.length === 0 ? null : { made }),
  },
  async run({ stores: { clients, now } }, { atOnce = false }) {
    const at = now();
    const made = await rotateKeys(clients, at, { atOnce });
    return { made: made.map(({ id }) => id), items: itemsOf(await clients.signingKeys(), at) };
  },
});
