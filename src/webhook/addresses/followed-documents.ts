import { createRepeatedError, type RepeatedError } from "../../lib/repeat.ts";
import { createWatchedFiles } from "../../lib/watched-files.ts";

/** A document outside of the configuration file. */
export interface FollowedDocument {
  /** Identifies the document by its place, and by what is read of it. */
  id: string;
  /** Names the document in messages and logs. The query of a URL is left out. */
  name: string;
  kind: "file" | "url";
  /** A URL, or an absolute path. */
  place: string;
  /** How often a URL is fetched. */
  refreshMs: number;
}

/** Documents that are read again when they change or are old. The last good content of each stays in use. */
export interface FollowedDocuments<Document, Content> {
  /** Null if the document was never read. */
  contentOf(document: Pick<FollowedDocument, "id">): Content | null;
  /**
   * Uses these documents from now on, and reads each of them. Those that were in use before keep their content
   * meanwhile.
   */
  apply(documents: readonly Document[]): void;
  /** Resolves when those of these documents that have no content yet were tried. */
  tried(documents: readonly Document[]): Promise<void>;
  /** Reads documents again, and resolves when that was tried. */
  readAgain(documents: readonly Document[]): Promise<void>;
  /** Reads a file again whenever it changes. */
  start(): void;
  stop(): Promise<void>;
}

interface FollowOptions<Document, Content> {
  /** The last good content from before the start; null if there is none. */
  restore(document: Document): Content | null;
  /** Reads a document. `freshMs` is how long its sender says that it is fresh. Ends with `signal`. */
  read(document: Document, signal: AbortSignal): Promise<{ content: Content; freshMs?: number }>;
  keep(document: Document, content: Content): Promise<void>;
  isSame(one: Content, other: Content): boolean;
  onChanged(document: Document, content: Content): void;
  /** Called once for each error. `content` is the last good one. */
  onError(document: Document, error: string, content: Content | null): void;
}

/** A document in use. */
interface Entry<Document, Content> {
  document: Document;
  /** The last good content; null if there never was one. */
  content: Content | null;
  /** How long the last content is fresh, if its sender says so. */
  freshMs: number | undefined;
  error: RepeatedError;
  /** How many tries have failed since the last success. */
  failures: number;
  /** Ends with the last try that has begun. */
  running: Promise<void>;
  timer: NodeJS.Timeout | undefined;
}

const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 15 * 60_000;

/** When a document is read again. After failures the wait doubles: some providers limit how often they are asked. */
export function nextReadMs(refreshMs: number, failures: number): number {
  if (failures === 0) return refreshMs;
  return Math.min(refreshMs, FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
}

/** Creates the documents. None is in use before `apply`. */
export function followDocuments<Document extends FollowedDocument, Content>(
  options: FollowOptions<Document, Content>,
): FollowedDocuments<Document, Content> {
  type DocumentEntry = Entry<Document, Content>;
  let entries = new Map<string, DocumentEntry>();
  const stopping = new AbortController();
  const fileEntries = () => [...entries.values()].filter(({ document }) => document.kind === "file");
  const files = createWatchedFiles(() => fileEntries().map(({ document }) => document.place));
  let unwatch = () => {};

  function open(document: Document): DocumentEntry {
    return {
      document,
      content: options.restore(document),
      freshMs: undefined,
      error: createRepeatedError(),
      failures: 0,
      running: Promise.resolve(),
      timer: undefined,
    };
  }

  /** Reads a document after the try that is under way, if any: that one may have read an older content. */
  function refresh(entry: DocumentEntry): void {
    entry.running = entry.running.then(async () => {
      await tryRead(entry);
      schedule(entry);
    });
  }

  function schedule(entry: DocumentEntry): void {
    const { document, failures, freshMs = document.refreshMs } = entry;
    clearTimeout(entry.timer);
    if (stopping.signal.aborted || entries.get(document.id) !== entry) return;
    // The watch reads a file again.
    if (document.kind === "file" && failures === 0) return;
    entry.timer = setTimeout(() => refresh(entry), nextReadMs(freshMs, failures)).unref();
  }

  async function tryRead(entry: DocumentEntry): Promise<void> {
    const { document, error } = entry;
    try {
      const { content, freshMs } = await options.read(document, stopping.signal);
      entry.freshMs = freshMs;
      use(entry, content);
      await options.keep(document, content).catch((cause: unknown) => {
        throw new Error("its copy in DATA_DIR cannot be written", { cause });
      });
      entry.failures = 0;
      error.clear();
    } catch (failure) {
      if (stopping.signal.aborted) return;
      entry.failures++;
      const news = error.news(failure);
      if (news !== null) options.onError(document, news, entry.content);
    }
  }

  function use(entry: DocumentEntry, content: Content): void {
    if (entry.content !== null && options.isSame(entry.content, content)) return;
    entry.content = content;
    options.onChanged(entry.document, content);
  }

  function refreshFiles(): void {
    // The state of the files is noted first, so that a change during the read is seen.
    files.reading(() => fileEntries().forEach(refresh));
  }

  const entriesOf = (documents: readonly Document[]) => documents.flatMap(({ id }) => entries.get(id) ?? []);
  const ended = async (some: Iterable<DocumentEntry>) => {
    await Promise.all([...some].map(({ running }) => running));
  };

  return {
    contentOf: ({ id }) => entries.get(id)?.content ?? null,
    apply(documents) {
      const before = entries;
      for (const { timer } of before.values()) clearTimeout(timer);
      entries = new Map();
      for (const document of documents) {
        const other = entries.get(document.id);
        const entry = other ?? before.get(document.id) ?? open(document);
        entry.document = other
          ? { ...document, refreshMs: Math.min(document.refreshMs, other.document.refreshMs) }
          : document;
        entries.set(document.id, entry);
      }
      refreshFiles();
      for (const entry of entries.values()) if (entry.document.kind === "url") refresh(entry);
    },
    tried: (documents) => ended(entriesOf(documents).filter(({ content }) => content === null)),
    async readAgain(documents) {
      const some = entriesOf(documents);
      some.forEach(refresh);
      await ended(some);
    },
    start() {
      unwatch = files.watch(refreshFiles);
    },
    async stop() {
      unwatch();
      stopping.abort();
      for (const { timer } of entries.values()) clearTimeout(timer);
      await ended(entries.values());
    },
  };
}
