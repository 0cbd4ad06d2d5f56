import { COMMERCE } from "./commerce.ts";
import { COMMUNICATION } from "./communication.ts";
import { CONTENT } from "./content.ts";
import { DATA } from "./data.ts";
import { DEVELOPER } from "./developer.ts";
import { FINANCE } from "./finance.ts";
import { IDENTITY } from "./identity.ts";
import { MARKETING } from "./marketing.ts";
import { PAYMENTS } from "./payments.ts";
import type { Preset } from "./preset.ts";
import { SENDERS } from "./senders.ts";
import { SOCIAL } from "./social.ts";
import { WORK } from "./work.ts";

const ALL: Record<string, Preset> = {
  ...COMMERCE,
  ...COMMUNICATION,
  ...CONTENT,
  ...DATA,
  ...DEVELOPER,
  ...FINANCE,
  ...IDENTITY,
  ...MARKETING,
  ...PAYMENTS,
  ...SENDERS,
  ...SOCIAL,
  ...WORK,
};

/** The known providers by their name in the configuration file, in alphabetical order. */
export const PRESETS: Record<string, Preset> = Object.fromEntries(
  Object.entries(ALL).sort(([one], [other]) => (one < other ? -1 : 1)),
);
