/** The description of a log event for the reference. */
interface LogEventDescription {
  level: "debug" | "info" | "warn" | "error";
  /** Its other level. `meaning` says when. */
  orLevel?: LogEventDescription["level"];
  meaning: string;
  fields: readonly string[];
}

/** The log events. Their names are stable, for programs that read the log. */
export const LOG_EVENTS = {
  server_started: { level: "info", meaning: "The server listens.", fields: ["url", "pid"] },
  accept_error: {
    level: "error",
    meaning: "A connection could not be accepted. The server goes on. Logged once for each error.",
    fields: ["error"],
  },
  schema_updating: {
    level: "info",
    meaning:
      "The start, or a command, brings the database of an older version up to date. With millions of events it takes minutes.",
    fields: ["fromSchema", "toSchema"],
  },
  schema_updated: {
    level: "info",
    meaning: "The database is up to date.",
    fields: ["fromSchema", "toSchema", "seconds"],
  },
  schema_update_blocked: {
    level: "warn",
    meaning: "The update of the database waits for a table that another program has locked. The message names it.",
    fields: [],
  },
  server_stopping: { level: "info", meaning: "The server received a signal to stop.", fields: [] },
  server_stopped: { level: "info", meaning: "The server has stopped.", fields: [] },
  setting_warning: {
    level: "warn",
    meaning: "A setting is accepted, but probably not as intended. The message says why.",
    fields: [],
  },
  encryption_key_missing: {
    level: "error",
    meaning:
      "At the start `ENCRYPTION_KEYS` lacks a key that payloads or signing keys may be encrypted with. The jobs of such payloads become dead letters; nothing is lost.",
    fields: ["keys"],
  },
  clock_warning: {
    level: "warn",
    meaning: "At the start the clock was before this version was made, before the newest event, or 30 days after it.",
    fields: [],
  },
  clock_set: {
    level: "warn",
    meaning:
      "The clock was set by more than an hour. Events that came while it was behind are kept for as long as those that come now.",
    fields: ["seconds"],
  },
  clock_note_error: {
    level: "warn",
    meaning: "The store could not be told that the clock was set. It is tried again.",
    fields: ["error"],
  },
  access_log_error: {
    level: "warn",
    meaning: "Decisions of forward-auth could not be written to `access.log`. Logged once for each error.",
    fields: ["error"],
  },
  proxy_not_trusted: {
    level: "warn",
    meaning: "A proxy on this machine or its network forwards clients and is not in `TRUSTED_PROXIES`. Logged once.",
    fields: ["address"],
  },
  instance_file_error: {
    level: "warn",
    meaning: "`DATA_DIR/server.json` cannot be written. Commands cannot find this server.",
    fields: ["error"],
  },
  audited: {
    level: "info",
    meaning: "A change by a person or a program was written to the audit. `hash` is that of its row.",
    fields: ["number", "who", "action", "hash"],
  },
  audit_failed: {
    level: "error",
    meaning: "The audit of a configuration could not be written.",
    fields: ["error"],
  },
  config_reloaded: {
    level: "info",
    meaning: "The configuration file was read again, and is in use.",
    fields: ["file", "sources", "routes"],
  },
  secret_shown: {
    level: "info",
    meaning: "The admin page has shown the secret of a source that has not received anything yet.",
    fields: ["source", "secret"],
  },
  config_reload_failed: {
    level: "error",
    meaning: "The changed configuration file has errors. The configuration before it stays in use.",
    fields: ["file", "errors"],
  },
  database_ready: {
    level: "info",
    meaning: "PostgreSQL accepts writes: at the start, and after each outage.",
    fields: ["version"],
  },
  database_unavailable: {
    level: "warn",
    meaning: "PostgreSQL does not answer, or accepts no writes. Logged once for each outage.",
    fields: ["error"],
  },
  alert_firing: {
    level: "warn",
    meaning:
      "Something is wrong. Sent to the notifiers of the configuration file, whose number is `notifiers`. `labels` says what it is about.",
    fields: ["alert", "labels", "notifiers"],
  },
  alert_resolved: { level: "info", meaning: "An alert is resolved.", fields: ["alert", "labels"] },
  alert_not_sent: {
    level: "error",
    meaning: "A notifier did not take a message. It is sent again for a day, unless some recipients of a mail have it.",
    fields: ["notifier", "attempt", "error"],
  },
  alert_check_error: {
    level: "warn",
    meaning: "The alerts could not be checked, because the store does not answer. Logged once for each error.",
    fields: ["error"],
  },
  refusals_error: {
    level: "warn",
    meaning:
      "The newest refused deliveries could not be stored, or read at the start. Tried again after 5 seconds. Logged once for each error.",
    fields: ["error"],
  },
  held_trim_error: {
    level: "warn",
    meaning: "Refused deliveries that `keepRejected` no longer keeps were not removed. Tried again after a minute.",
    fields: ["error"],
  },
  held_skipped: {
    level: "warn",
    meaning:
      "So many refused deliveries of sources with `keepRejected` were not kept, because the intake was paused or full. Logged once a minute.",
    fields: ["count"],
  },
  capture_opened: {
    level: "info",
    meaning: "`sources capture` keeps the next requests to a source, with their credentials.",
    fields: ["source", "count", "until"],
  },
  capture_error: {
    level: "warn",
    meaning: "A request was not kept for `sources capture`. Logged once for each error.",
    fields: ["error"],
  },
  secret_retires_soon: {
    level: "warn",
    meaning:
      "An old secret of a source with `retire` will not be accepted from `at`, in less than a day, unless it matches before.",
    fields: ["source", "secret", "at"],
  },
  secret_retired: {
    level: "info",
    meaning: "An old secret of a source with `retire` is not accepted since `at`. Also logged after a start.",
    fields: ["source", "secret", "at"],
  },
  retirement_check_error: {
    level: "warn",
    meaning:
      "Which secrets retire soon could not be checked, because the store does not answer. Logged once for each error.",
    fields: ["error"],
  },
  nodes_changed: {
    level: "info",
    meaning: "The number of live servers on the PostgreSQL database has changed. `rate` of a route is divided by it.",
    fields: ["nodes"],
  },
  catch_up_done: {
    level: "info",
    meaning: "A source has looked at what its provider has, and got what was missed, in numbers of events.",
    fields: ["source", "listed", "seen", "redelivered", "captured", "failed", "left", "refusal"],
  },
  catch_up_error: {
    level: "warn",
    meaning: "The catch-up of a source, or of all, was broken off. The next run goes on.",
    fields: ["source", "listed", "seen", "redelivered", "captured", "failed", "left", "refusal", "error"],
  },
  subscription_renewed: {
    level: "info",
    meaning: "The subscription of a source was renewed, or made again.",
    fields: ["source", "expiresAt"],
  },
  authorization_refused: {
    level: "warn",
    meaning: "A request of an app to log in was refused. `check` names what is wrong.",
    fields: ["requestId", "address", "check", "reason"],
  },
  logout_delivered: {
    level: "info",
    meaning: "An app was told, by a logout token, that a session has ended.",
    fields: ["client"],
  },
  logout_not_delivered: {
    level: "warn",
    meaning:
      "An app could not be told that a session has ended. It is told again, unless it refused with 400 or a day is over.",
    fields: ["client", "error"],
  },
  subscription_error: {
    level: "warn",
    meaning: "The subscription of a source, or of all, could not be renewed. It is tried again after five minutes.",
    fields: ["source", "error"],
  },
  outage_noticed: {
    level: "info",
    meaning: "No delivery could be taken since the heartbeat before: the server was stopped or suspended.",
    fields: ["seconds"],
  },
  heartbeat_error: {
    level: "warn",
    meaning:
      "The server could not tell others on the database that it is alive. Logged once for each error. After 10 s it makes no attempts of routes with a `rate`.",
    fields: ["error"],
  },
  source_counts_error: {
    level: "warn",
    meaning: "The counts of `sources list` could not be stored, and are tried again.",
    fields: ["error"],
  },
  request_completed: {
    level: "info",
    orLevel: "debug",
    meaning:
      "A request was answered. Successful deliveries, `GET /auth/me`, probes and metrics are logged at debug. `path` is `-` if no route matched. Errors have a `code`, and some a `reason`, and what was `sent` instead of what is expected. Neither is sent to the client.",
    fields: ["requestId", "method", "path", "status", "code", "reason", "sent", "address", "durationMs"],
  },
  request_failed: {
    level: "error",
    meaning: "A request was answered with a 5xx error. A defect has its `stack`.",
    fields: ["requestId", "code", "error", "stack"],
  },
  not_ready: {
    level: "warn",
    meaning: "`/readyz` answered 503. `part` is the part that failed.",
    fields: ["requestId", "part", "error"],
  },
  login_succeeded: {
    level: "info",
    meaning: "The user logged in. `method` is `password`, `totp`, `recovery_code` or `passkey`.",
    fields: ["requestId", "address", "userId", "method"],
  },
  login_not_listed: {
    level: "warn",
    meaning: "A login succeeded, and is missing in the list of recent logins.",
    fields: ["requestId", "error"],
  },
  second_factor_failed: {
    level: "warn",
    meaning:
      "The password of a login was right, and its code was wrong or used before. `aheadSeconds` is how far the clock of the app is ahead.",
    fields: ["requestId", "address", "aheadSeconds"],
  },
  recovery_code_used: {
    level: "warn",
    meaning: "A login was proved by a recovery code. `left` is how many there still are.",
    fields: ["requestId", "address", "left"],
  },
  person_removed: {
    level: "info",
    meaning: "A person is no longer in the configuration file, and lost session, factors, password and tokens.",
    fields: ["person"],
  },
  people_not_taken: {
    level: "warn",
    meaning:
      "The people of the configuration file could not be stored, or the session of one who is gone not ended: `error`. Until then new ones cannot log in. It is tried again.",
    fields: ["error"],
  },
  person_invited: {
    level: "info",
    meaning: "`people invite` made a link. The command writes the line to its standard error.",
    fields: ["person"],
  },
  invitation_opened: {
    level: "info",
    meaning: "A browser opened a link of `people invite` that is its own from then on.",
    fields: ["requestId", "address", "person", "userAgent"],
  },
  person_password_set: {
    level: "info",
    meaning: "A person set a password with a link of `people invite`.",
    fields: ["requestId", "address", "person"],
  },
  passkeys_unusable: {
    level: "warn",
    meaning:
      "At the start there were passkeys that were made for another `PASSKEY_RP_ID`, `COOKIE_DOMAIN` or `PUBLIC_URL`.",
    fields: [],
  },
  passkey_refused: {
    level: "warn",
    meaning:
      "A passkey was not accepted, at a login or when it was added. `reason` says why, e.g. that its counter has not grown, as that of a copy.",
    fields: ["requestId", "address", "reason"],
  },
  factor_added: {
    level: "info",
    meaning:
      "A second factor was added, on the page, with a link of `people invite`, or by a command. `kind` is `totp` or `passkey`.",
    fields: ["requestId", "address", "factor", "kind", "name", "person"],
  },
  factor_removed: {
    level: "info",
    meaning: "A second factor was removed, on the page or by a command.",
    fields: ["requestId", "address", "factor", "kind", "name", "person"],
  },
  recovery_codes_renewed: {
    level: "info",
    meaning: "New recovery codes were made, on the page or by a command. The earlier ones do not work any more.",
    fields: ["requestId", "address", "person"],
  },
  login_failed: {
    level: "warn",
    meaning: "The e-mail or the password of a login was wrong.",
    fields: ["requestId", "address"],
  },
  redirect_refused: {
    level: "warn",
    meaning:
      "A login leads to the start page instead of `rd`, which is not allowed. `reason` is `origin_not_allowed`, `no_host` or `malformed`, and the message names the remedy.",
    fields: ["requestId", "address", "reason", "origin"],
  },
  login_elsewhere: {
    level: "warn",
    meaning:
      "A login was refused because the browser sent it under another address than `PUBLIC_URL`, where it would not keep the cookie.",
    fields: ["requestId", "address", "origin"],
  },
  session_bound: {
    level: "info",
    meaning: "A browser has proved a key of its device, and the session is bound to it.",
    fields: ["requestId", "address", "userId"],
  },
  device_refused: {
    level: "warn",
    meaning:
      "A device that registers for a session, or proves itself, was refused: another key or algorithm, or a challenge that is used, too old or of another session.",
    fields: ["requestId", "address", "reason"],
  },
  device_not_proved: {
    level: "warn",
    meaning:
      "The login page was opened with the cookie of a session that is bound to a device, without a proof of it. The browser has lost its key, or the cookie was copied. `skipped` is `Secure-Session-Skipped`: why a browser sent no proof.",
    fields: ["requestId", "address", "skipped"],
  },
  original_request_unclear: {
    level: "warn",
    meaning:
      "A proxy asks `/auth/verify` with headers that contradict each other, or without a method that an entry of `access` compares. It got 400. Logged once.",
    fields: ["requestId", "address"],
  },
  original_url_own: {
    level: "warn",
    meaning:
      "A proxy asks `/auth/verify` about `PUBLIC_URL` itself: it asks over that address, whose proxy names its own request, or the login page is behind the login. Logged once.",
    fields: ["requestId", "address"],
  },
  original_url_unknown: {
    level: "warn",
    meaning:
      "A proxy asks `/auth/verify` about a page, and does not say which, or is not in `TRUSTED_PROXIES`. The login leads to the start page. Logged once.",
    fields: ["requestId", "address"],
  },
  login_throttled: {
    level: "warn",
    meaning: "A login was refused after too many failures.",
    fields: ["requestId", "address"],
  },
  browsers_forgotten: {
    level: "info",
    meaning:
      "`throttle forget-browsers` revoked the marks of browsers that have logged in. Written to standard error of the command.",
    fields: [],
  },
  throttle_cleared: {
    level: "info",
    meaning:
      "`throttle clear` forgot failed logins. Written to standard error of the command. `address` is present if `--address` was given.",
    fields: ["cleared", "address"],
  },
  session_superseded: {
    level: "info",
    meaning: "A login replaced a live session.",
    fields: ["requestId", "address", "userId"],
  },
  session_ended: { level: "info", meaning: "The user logged out.", fields: ["requestId", "address", "userId"] },
  session_revoked: {
    level: "info",
    meaning:
      "A session was ended. `reason` is `command` for `session revoke` and `passwd`, which write the line to their standard error. It is `alert_link` for the link of an alert, `credentials_changed` if the password hash or the e-mail changed, `person_removed` if the person is no longer in the configuration file, and `invitation` if the person set another password with a link.",
    fields: ["requestId", "address", "userId", "reason"],
  },
  token_created: {
    level: "info",
    meaning:
      "A token for a program was created on the page or by `tokens create`, which writes the line to its standard error.",
    fields: ["name", "scopes"],
  },
  token_revoked: {
    level: "info",
    meaning:
      "A token of a program was revoked on the page or by `tokens revoke`, which writes the line to its standard error.",
    fields: ["name"],
  },
  delivery_from_other_address: {
    level: "warn",
    meaning: "A delivery came from an address outside of `allowedAddresses`, and `addressMode` is `watch`.",
    fields: ["requestId", "source", "address"],
  },
  handshake_answered: {
    level: "info",
    meaning:
      "The handshake of a provider was answered. Nothing is stored. `kind` is the provider, or the `type` that the source describes.",
    fields: ["source", "kind", "requestId", "address"],
  },
  subscription_confirmed: {
    level: "info",
    meaning: "A subscription of Amazon SNS was confirmed, because the source has `handshake: { confirm: true }`.",
    fields: ["source", "requestId", "address"],
  },
  subscription_not_confirmed: {
    level: "warn",
    meaning:
      "A subscription of Amazon SNS could not be confirmed. The event is stored: open its `SubscribeURL`, or subscribe again.",
    fields: ["source", "requestId", "address", "error"],
  },
  handshake_secret_received: {
    level: "warn",
    meaning:
      "A handshake of Asana or Notion brought the secret of a new webhook. `authserve sources list` shows it once: make it a secret of the source, and restart.",
    fields: ["source", "requestId", "address"],
  },
  handshake_secret_ignored: {
    level: "warn",
    meaning:
      "A handshake of Asana or Notion brought a secret that was not kept. `reason` is `verified` if a secret of the source has verified a delivery, and `full` if five others wait to be shown.",
    fields: ["source", "requestId", "address", "reason"],
  },
  address_list_changed: {
    level: "info",
    meaning: "A list in `allowedAddresses` has other addresses than before. `count` is their number.",
    fields: ["list", "count"],
  },
  address_list_error: {
    level: "warn",
    meaning:
      "A list in `allowedAddresses` could not be read or kept. The last good one stays in use. Logged once for each error.",
    fields: ["list", "error"],
  },
  delivery_malformed: {
    level: "warn",
    meaning:
      "The body of a verified delivery is not what its Content-Type says. It is stored as it is, and read as far as it can be. `fault` says what is wrong.",
    fields: ["requestId", "source", "eventId", "fault"],
  },
  key_set_changed: {
    level: "info",
    meaning: "The public keys at a URL in `keys` are others than before. `count` is their number.",
    fields: ["keys", "count"],
  },
  key_set_error: {
    level: "warn",
    meaning:
      "The public keys at a URL in `keys` could not be read or kept. The last good ones stay in use. Logged once for each error.",
    fields: ["keys", "error"],
  },
  delivery_conflict: {
    level: "warn",
    meaning: "A delivery has the id of a stored event, but different bytes.",
    fields: ["requestId", "source", "eventId", "address"],
  },
  delivery_repeat: {
    level: "info",
    meaning:
      "A delivery has the bytes of a stored event, but another id, `deliveredId`. It is kept as a repeat of the event.",
    fields: ["requestId", "source", "eventId", "deliveredId", "address"],
  },
  intake_paused: {
    level: "warn",
    meaning:
      "Deliveries get 503 until the cause is gone. `reason` is `disk_low` with `freeBytes` and `minFreeBytes`, or `queue_old` with `oldestQueuedSeconds` and `maxQueueAgeSeconds`. Logged once for each pause and reason.",
    fields: ["reason", "freeBytes", "minFreeBytes", "oldestQueuedSeconds", "maxQueueAgeSeconds"],
  },
  intake_resumed: {
    level: "info",
    meaning: "The cause of a pause is gone. Deliveries are accepted unless there is another reason.",
    fields: ["reason"],
  },
  event_received: {
    level: "info",
    meaning: "A route with the handler `log` took an event, or the route `default` while `FORWARD_URL` is not set.",
    fields: ["source", "eventId", "type", "route"],
  },
  events_purged: {
    level: "info",
    meaning: "Retention has removed events, with the bytes of their payloads and headers, and ids.",
    fields: ["events", "ids", "bytes"],
  },
  purge_error: {
    level: "error",
    meaning: "Retention could not remove old events. It is tried again.",
    fields: ["error"],
  },
  handler_log: {
    level: "info",
    meaning: "The module of a route logged a line. The level and the message are its own, and so are the `fields`.",
    fields: ["source", "eventId", "route", "fields"],
  },
  handler_output: {
    level: "info",
    meaning: "The module of a route wrote a line to its standard output or standard error.",
    fields: ["route"],
  },
  handler_thread_ended: {
    level: "warn",
    meaning: "The module of a route ended its thread after an event, e.g. by an uncaught error in a timer.",
    fields: ["route", "error"],
  },
  event_processed: {
    level: "info",
    meaning: "An attempt succeeded.",
    fields: ["source", "eventId", "type", "route", "attempt", "durationMs"],
  },
  event_unrouted: {
    level: "warn",
    meaning:
      "No route takes an event. It is stored, and `authserve events replay ID --force` gives it to the routes again. Logged for the first event of each source and type since the start.",
    fields: ["source", "type"],
  },
  event_retried: {
    level: "warn",
    meaning: "An attempt failed. The next one is at `runAt`.",
    fields: ["source", "eventId", "type", "route", "attempt", "error", "runAt"],
  },
  event_dead_lettered: {
    level: "error",
    meaning: "A job became a dead letter: its last attempt failed, or another one would fail as well.",
    fields: ["source", "eventId", "type", "route", "attempt", "error"],
  },
  event_unreadable: {
    level: "error",
    meaning:
      "A job became a dead letter because its event is in a damaged part of the database. `number` identifies the event. `eventId` is null if it cannot be read.",
    fields: ["number", "eventId", "route", "error"],
  },
  event_unjudged: {
    level: "error",
    meaning:
      "An event was set aside, because the routes that look into it could not judge it in time. They have a dead letter of it. `number` identifies the event.",
    fields: ["number", "source", "type", "reason"],
  },
  lease_lost: {
    level: "warn",
    meaning: "The lease of an attempt ended before the attempt did. Another worker has the event.",
    fields: ["source", "eventId", "type", "route", "attempt"],
  },
  target_unavailable: {
    level: "warn",
    meaning: "The target of a route was not available five times in a row. Its events wait for it.",
    fields: ["route"],
  },
  target_available: { level: "info", meaning: "The target of a route is available again.", fields: ["route"] },
  route_gone: {
    level: "warn",
    meaning:
      "Jobs of a route that is not in the configuration file wait until it is there again. `queued` and `failed` are their numbers.",
    fields: ["route", "queued", "failed"],
  },
  worker_error: {
    level: "error",
    meaning:
      "An operation of the worker on the store failed. The fields of an event are present if the operation was for one event.",
    fields: ["error", "source", "eventId", "type", "route", "attempt"],
  },
  storage_thread_died: {
    level: "error",
    meaning: "The storage thread ended with an error. A new one is started.",
    fields: ["error"],
  },
  storage_file_fault: {
    level: "error",
    meaning:
      "A file of `DATA_DIR` was removed, replaced or cut short while the server uses it. Deliveries and logins are refused. The message says what to do. Logged once for each fault.",
    fields: ["error"],
  },
  storage_files_restored: { level: "info", meaning: "The files of `DATA_DIR` are in their places again.", fields: [] },
  lock_file_renewed: {
    level: "warn",
    meaning: "`DATA_DIR/serve.lock` was removed, and the server locked the directory again.",
    fields: [],
  },
  database_log_large: {
    level: "warn",
    meaning:
      "The write-ahead log of the database exceeds 128 MiB because a program reads the database for a long time.",
    fields: ["bytes"],
  },
  session_store_ready: {
    level: "info",
    meaning: "Redis answers, at the start or after an outage.",
    fields: ["version", "evictionPolicy"],
  },
  session_store_error: {
    level: "warn",
    meaning: "Redis does not answer. Logged once for each outage.",
    fields: ["error"],
  },
  tls_reloaded: { level: "info", meaning: "The changed certificate is in use.", fields: [] },
  tls_reload_failed: {
    level: "error",
    meaning: "The changed certificate cannot be used. The old one stays in use.",
    fields: ["error"],
  },
  log_lines_dropped: {
    level: "warn",
    meaning: "Log lines were dropped because more than 1 MiB of them could not be written.",
    fields: ["count"],
  },
} as const satisfies Record<string, LogEventDescription>;

export type LogEvent = keyof typeof LOG_EVENTS;
