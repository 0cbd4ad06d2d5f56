import * as v from "valibot";
import { LOG_FORMATS, LOG_LEVELS } from "../../log.ts";
import { directory, duration, file, networks, oneOf } from "../fields.ts";
import type { Group } from "../setting.ts";

/** Settings of files, the log, metrics and the stop. */
export const OPERATION = {
  DATA_DIR: {
    schema: v.optional(directory, "./data"),
    meaning:
      "Directory of the database `authserve.db`. It is created with mode 0700 if it is missing. With `DATABASE_URL` it holds nothing that lasts.",
    example: "/var/lib/authserve",
  },
  CONFIG_FILE: {
    schema: v.optional(file),
    defaultText: "`authserve.yaml` in the working directory, if it is there",
    meaning:
      "The [configuration file](configuration-file.md), which has further sources and routes. It is read again when it changes.",
    example: "/etc/authserve/authserve.yaml",
  },
  ADDON_DIR: {
    schema: v.optional(directory),
    defaultText: "a cache directory of the user",
    meaning:
      "Directory where the single executable unpacks its native add-ons. Only the server's user may have write access to it.",
    example: "/var/cache/authserve",
  },
  LOG_LEVEL: {
    schema: v.optional(oneOf(...LOG_LEVELS), "info"),
    meaning: "Lowest level that is logged; `silent` logs nothing. The log goes to standard output.",
    example: "warn",
  },
  LOG_FORMAT: {
    schema: v.optional(oneOf(...LOG_FORMATS)),
    defaultText: "`text` on a terminal, else `json`",
    meaning: "How a log line is written: as a JSON object for programs, or as text for people.",
    example: "json",
  },
  METRICS_ALLOWED_ADDRESSES: {
    schema: v.optional(networks, "127.0.0.0/8,::1"),
    meaning:
      "Addresses that may read `/metrics`. Others get 404. Requests with a forwarding header, such as `X-Forwarded-For` or `Via`, also get 404, unless a proxy in `TRUSTED_PROXIES` sent them with `X-Forwarded-For`. A proxy that adds no such header is not recognized.",
    example: "127.0.0.0/8,::1,10.0.0.0/8",
  },
  ADMIN: {
    schema: v.optional(oneOf("on", "off"), "on"),
    meaning: "`off` removes `/admin` with its API, which shows and replays events to the logged-in user.",
    example: "off",
  },
  ADMIN_ALLOWED_ADDRESSES: {
    schema: v.optional(networks),
    defaultText: "any address",
    meaning:
      "Addresses that may use `/admin`, besides the login. Others get 404. Requests with a forwarding header are judged as for `METRICS_ALLOWED_ADDRESSES`.",
    example: "10.0.0.0/8",
  },
  DOCS: {
    schema: v.optional(oneOf("login", "public", "off"), "login"),
    meaning:
      "Who may read this documentation at `/docs/`: the logged-in user, or everybody (`public`). `off` removes it.",
    example: "public",
  },
  SHUTDOWN_TIMEOUT: {
    schema: v.optional(duration(0, "10s"), "10s"),
    meaning:
      "How long a stop waits for open requests and running attempts. Attempts still running then are interrupted and queued again.",
    example: "30s",
  },
} satisfies Group;
