import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { readSecretFile, SIGNING_SECRET_FORM, signingKeyOf } from "../../config/secrets.ts";
import { OperatorError, systemCode } from "../../errors.ts";
import type { HeardEvent, ListenFilter } from "../../events/listening.ts";
import { typeList } from "../../events/type-list.ts";
import { readInstance } from "../../http/instance.ts";
import { fileId, isInPlace } from "../../lib/files.ts";
import { databaseFile } from "../../sqlite/database.ts";
import { openStored } from "../../webhook/content/stored-content.ts";
import { isTaken } from "../../worker/routing.ts";
import { readRoutesOf } from "../configured.ts";
import { noSuchRoute, requireFiltered } from "../find-source.ts";
import { parseTime, wholeNumber } from "../option-values.ts";
import { counted, say } from "../output.ts";
import { type RemoteOptions, remoteServer } from "../remote.ts";
import { signerOfPreset } from "../send.ts";
import { withStores } from "../stores.ts";
import { type Feed, patient, patiently, remoteFeed, storeFeed } from "./feed.ts";
import { forward } from "./forward.ts";
import { readForwardUrl } from "./forward-url.ts";
import { lineView } from "./lines.ts";
import { openScreen } from "./screen.ts";
import { openListenerState } from "./state.ts";
import { createTarget, type Signing } from "./target.ts";

interface ListenOptions extends RemoteOptions {
  forward?: string;
  allowRemote?: boolean;
  name: string;
  source?: string;
  type?: string;
  route?: string;
  since?: string;
  fromStart?: boolean;
  maxBacklog: string;
  signWith?: string;
  secretFile?: string;
  print?: boolean;
  json?: boolean;
}

/** What a listener listens to. */
interface Origin {
  /** Names it in the state, without secrets. */
  name: string;
  feed: Feed;
  /** The page of its server; null if it is not known. */
  page: string | null;
}

/** Sends stored events to a program on this machine as they arrive, until it is ended. */
export async function runListen(options: ListenOptions): Promise<void> {
  const { since, fromStart, source, type, route, print } = options;
  if (since !== undefined && fromStart)
    throw new OperatorError({ found: "--since and --from-start are given together", remedy: "keep one of them" });
  if (options.forward === undefined && !print)
    throw new OperatorError({ found: "--forward is missing", remedy: "give a URL, or --print to only see events" });
  const url =
    options.forward === undefined ? null : await readForwardUrl(options.forward, options.allowRemote === true);
  const target = url === null ? null : createTarget(url, signingOf(options));
  const run = {
    options,
    target,
    begin: beginOf(options),
    maxBacklog: wholeNumber("--max-backlog", options.maxBacklog, 1_000_000),
  };
  const server = remoteServer(options);
  if (server !== null) {
    const feed = remoteFeed(server, { source, type, route });
    return listen({ name: server.url, feed, page: `${server.url}/admin/` }, run);
  }
  const filter = filterOf(options);
  return withStores(async (stores) => {
    await requireFiltered(stores, { source });
    const missing = await stores.encryption.missingKeys();
    if (missing.length > 0)
      say(`Events encrypted with ${missing.join(", ")} are shown as unreadable: ENCRYPTION_KEYS lacks that key.`);
    const { DATA_DIR: dataDir, DATABASE_URL: address } = stores.settings;
    const name =
      address === undefined ? resolve(dataDir) : `${address.hosts.map(({ host }) => host)}/${address.database}`;
    const url = readInstance(dataDir)?.url;
    const page = url === undefined ? null : `${url}/admin/`;
    const feed = storeFeed(stores.events, filter, stores.now);
    return listen({ name, feed: address === undefined ? ofFile(feed, databaseFile(dataDir)) : feed, page }, run);
  });
}

/** A feed that ends when its database is another one: the open file would never have an event again. */
function ofFile(feed: Feed, file: string): Feed {
  const opened = fileId(file);
  return {
    ...feed,
    next(cursor, signal) {
      if (isInPlace(file, opened)) return feed.next(cursor, signal);
      throw new OperatorError({ found: "The database was replaced", remedy: "start the listener again" }, 1);
    },
  };
}

function filterOf({ source, type, route: name }: ListenOptions): ListenFilter {
  const arrival = { source, takesType: type === undefined ? undefined : typeList(type) };
  if (name === undefined) return arrival;
  const routes = readRoutesOf(undefined);
  const chosen = routes.filter((route) => route.name === name);
  if (chosen.length === 0)
    throw noSuchRoute(
      name,
      routes.map((route) => route.name),
    );
  return { ...arrival, takes: (event) => isTaken(chosen, event, openStored(event)) };
}

/** Since when to listen, in Unix milliseconds; null: from where the last run has stopped. */
function beginOf({ since, fromStart }: ListenOptions): number | null {
  if (fromStart) return 0;
  return since === undefined ? null : parseTime("--since", since, Date.now());
}

function signingOf({ signWith, secretFile, route }: ListenOptions): Signing {
  if (secretFile === undefined) {
    if (signWith === undefined) return { as: "route", key: null, route: route ?? null };
    throw new OperatorError({ found: "--sign-with needs a secret", remedy: "give --secret-file FILE" });
  }
  const secret = secretIn(secretFile);
  if (signWith !== undefined) return { as: "provider", signer: signerOfPreset(signWith, secret) };
  const key = signingKeyOf(secret);
  if (key === null) throw new OperatorError({ found: `${secretFile} has no secret`, remedy: SIGNING_SECRET_FORM });
  return { as: "route", key, route: route ?? null };
}

function secretIn(file: string): string {
  try {
    return readSecretFile(file);
  } catch (error) {
    const found = `--secret-file cannot be read (${systemCode(error)})`;
    throw new OperatorError({ found, remedy: "name a readable file" });
  }
}

interface Run {
  options: ListenOptions;
  target: ReturnType<typeof createTarget> | null;
  begin: number | null;
  maxBacklog: number;
}

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

async function listen(
  { name: origin, feed, page }: Origin,
  { options, target, begin, maxBacklog }: Run,
): Promise<void> {
  const state = openListenerState(options.name, origin, begin !== null);
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of ENDING_SIGNALS) process.on(signal, end);
  // The reader of a pipe has gone.
  process.stdout.once("error", end);
  try {
    const { waits } = lineView(options);
    const first = await patiently(
      async () => {
        const cursor = state.cursor ?? (await feed.begin(begin));
        return { cursor, waiting: await feed.count(cursor, maxBacklog) };
      },
      ending.signal,
      waits,
    );
    if (first === null) return;
    const { cursor, waiting } = first;
    if (waiting > maxBacklog) throw tooMany(maxBacklog);
    state.save(cursor);
    const title = `${options.name}: ${origin} → ${target === null ? "shown only" : target.url}`;
    const isFullScreen = process.stdout.isTTY && process.stdin.isTTY && !options.print && !options.json;
    if (!isFullScreen) say(`Listening as ${title}. ${counted(waiting, "event")} ${waiting === 1 ? "waits" : "wait"}.`);
    const screen = isFullScreen ? openScreen(title) : null;
    const view = screen ?? lineView(options);
    try {
      const listener = { feed: patient(feed, view.waits), target, state, view, signal: ending.signal };
      const { done, resend, pause } = forward(cursor, listener);
      screen?.start({ resend, pause, open: (event) => openInBrowser(page, event), quit: end });
      await done;
    } finally {
      screen?.close();
    }
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, end);
    target?.close();
    state.release();
  }
}

function tooMany(maxBacklog: number): OperatorError {
  const found = `More than ${counted(maxBacklog, "event")} wait for this listener`;
  const remedy = "take them with a larger --max-backlog, or leave them out with --since, e.g. --since 1h";
  return new OperatorError({ found, remedy }, 1);
}

/** Shows an event on the page of the server. Tells its address, since there may be no browser here. */
function openInBrowser(page: string | null, { eventId, source }: HeardEvent): string {
  if (page === null) return "the address of the page is not known: no server runs here";
  const url = `${page}#/events/${encodeURIComponent(eventId)}?${new URLSearchParams({ source })}`;
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
  return url;
}
