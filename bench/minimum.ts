/**
 * The minimal server with the same guarantee, for comparisons: `node:http`, one HMAC, `JSON.parse`, one table with a
 * unique index in its own thread, and a commit on disk before each 200. Deliveries during a commit share the next one.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import Sqlite from "better-sqlite3";

type Row = [id: string, payload: string];

function store(): void {
  const database = new Sqlite(process.env.DATABASE);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec("CREATE TABLE events (id INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, payload TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO events (event_id, payload) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const insertAll = database.transaction((rows: Row[]) => {
    for (const row of rows) insert.run(row);
  });
  parentPort?.on("message", (rows: Row[]) => {
    insertAll(rows);
    parentPort?.postMessage("committed");
  });
}

function receive(): void {
  const storage = new Worker(new URL(import.meta.url));
  const secret = process.env.WEBHOOK_SECRET as string;
  let waiting: { row: Row; response: ServerResponse }[] = [];
  let committing: typeof waiting = [];

  function commit(): void {
    if (committing.length > 0 || waiting.length === 0) return;
    committing = waiting;
    waiting = [];
    storage.postMessage(committing.map(({ row }) => row));
  }
  storage.on("message", () => {
    for (const { response } of committing) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"ok":true}');
    }
    committing = [];
    commit();
  });

  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const given = Buffer.from(String(request.headers["x-signature"]), "hex");
      const expected = createHmac("sha256", secret).update(body).digest();
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
        response.writeHead(401).end();
        return;
      }
      const payload = body.toString();
      const { id } = JSON.parse(payload) as { id: string };
      waiting.push({ row: [id, payload], response });
      setImmediate(commit);
    });
  }).listen(Number(process.env.PORT), "127.0.0.1");
}

if (isMainThread) receive();
else store();
