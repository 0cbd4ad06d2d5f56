import { existsSync } from "node:fs";

/** The folder with settings and secrets of the service that a package installs. */
export const SERVICE_FOLDER = "/etc/authserve";

/** The file with the settings of the service. */
export const SERVICE_CONF = `${SERVICE_FOLDER}/authserve.conf`;

type Place = "service" | "beside" | "folder";

/**
 * Where this process gets its settings: `service` in the unit and in `service-authserve`, `beside` in a folder without
 * `.env` on a machine with the service, `folder` elsewhere.
 */
export function settingsPlace(environment = process.env, conf = SERVICE_CONF): Place {
  // The unit and service-authserve set it for the add-ons.
  if (environment.CACHE_DIRECTORY === "/var/cache/authserve") return "service";
  return !environment.DATA_DIR && existsSync(conf) && !existsSync(".env") ? "beside" : "folder";
}

/** Chooses what to do about missing settings or data. Beside a service, they are those of the service. */
export function remedyAt(remedies: { folder: string; service: string }, place = settingsPlace()): string {
  if (place !== "beside") return remedies[place];
  return "run the command as root with service-authserve, which has the settings of the service";
}

/** What to do about a file that the server's user cannot read. */
export const LET_READ = {
  folder: "let the server's user read the file",
  service: "let the service read the file: chown authserve FILE",
};
