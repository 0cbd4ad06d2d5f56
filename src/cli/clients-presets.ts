import { endsOf, evidenceOfEnd } from "../auth/clients/preset.ts";
import { APP_PRESET_NAMES, loadAppPreset } from "../auth/clients/preset-files.ts";
import { OperatorError } from "../errors.ts";
import { factText, printFact } from "./facts.ts";
import { remedyForName } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { printTable } from "./table.ts";

interface PresetOptions {
  json?: boolean;
}

type Described = ReturnType<typeof describe>;

/** Prints the presets of apps, those whose name or title has a text, or all that is known of one. */
export function runClientsPresets(text: string | undefined, { json }: PresetOptions): void {
  const all = APP_PRESET_NAMES.map(describe);
  const one = all.find(({ name }) => name === text);
  if (one !== undefined) {
    if (json) printJson(one);
    else printOne(one);
    return;
  }
  const wanted = text?.toLowerCase() ?? "";
  const found = all.filter(({ name, title }) => name.includes(wanted) || title.toLowerCase().includes(wanted));
  if (found.length === 0)
    throw new OperatorError({
      found: `There is no preset ${text}`,
      remedy: remedyForName(wanted, APP_PRESET_NAMES, "authserve clients presets"),
    });
  if (json) printJson(found);
  else printList(found);
}

/** A preset in JSON output. Its members and their order are stable. */
function describe(name: string) {
  const preset = loadAppPreset(name);
  const { title, redirects, isPublic = false, pkce, scopes, claims = null, backchannel = null, asked = null } = preset;
  const { evidence, source, steps } = preset;
  const ends = endsOf(backchannel);
  const known = { name, title, redirects, public: isPublic, pkce, scopes, claims, ends, backchannel, asked };
  return { ...known, evidence, source, steps };
}

function printList(presets: readonly Described[]): void {
  printTable(
    [
      "NAME",
      { heading: "TITLE", leastWidth: 12 },
      "ENDS",
      "EVIDENCE",
      { heading: "SOURCE", leastWidth: 12, givesWay: 1 },
    ],
    presets.map(({ name, title, ends, source: guide }) => {
      const { evidence, source } = evidenceOfEnd(loadAppPreset(name));
      return [name, title, ends, evidence, source ?? guide];
    }),
  );
  const atOnce = presets.filter(({ backchannel }) => backchannel !== null).length;
  say(`${counted(presets.length, "preset")}, of which ${atOnce} end at once.`);
}

function printOne({ redirects, steps, ...facts }: Described): void {
  for (const [label, value] of Object.entries(facts)) printFact(label, factText(value));
  for (const redirect of redirects) printFact("redirect", redirect || "the address itself");
  for (const step of steps) printFact("step", step);
  say("In the app, the issuer is PUBLIC_URL, and the client id is the name of the client in the configuration file.");
}
