import { join } from "node:path";
import { appsPage } from "./apps.ts";
import { commandsPage } from "./commands.ts";
import { configurationFilePage } from "./configuration-file.ts";
import { errorsPage } from "./errors.ts";
import { httpPage } from "./http.ts";
import { installsPage } from "./installs.ts";
import { logEventsPage } from "./log-events.ts";
import { metricsPage } from "./metrics.ts";
import { presetsPage } from "./presets.ts";
import { settingsPage } from "./settings.ts";

/** The folder of the pages. */
export const REFERENCE_DIR = join(import.meta.dirname, "../../docs/reference");

/** The pages of the reference: file names and their render functions. */
export const PAGES: Record<string, () => string | Promise<string>> = {
  "apps.md": appsPage,
  "commands.md": commandsPage,
  "configuration-file.md": configurationFilePage,
  "errors.md": errorsPage,
  "http.md": httpPage,
  "installs.md": installsPage,
  "log-events.md": logEventsPage,
  "metrics.md": metricsPage,
  "presets.md": presetsPage,
  "settings.md": settingsPage,
};
