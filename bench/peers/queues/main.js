// Peers for measurement: job queues in PostgreSQL and Redis, with ten jobs at once, in the settings that their pages
// advise for many quick jobs. `ENGINE MODE COUNT [URL]`: `fill` adds COUNT jobs, `drain` processes as many, and
// `latency` adds COUNT jobs, 200 a second, while it processes them. With a URL, a job is a POST there, else nothing.
import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Queue, Worker } from "bullmq";
import { makeWorkerUtils, run } from "graphile-worker";
import { PgBoss } from "pg-boss";

const AT_ONCE = 10;
const PER_SECOND = 200;
const BATCH = 1000;
const { DATABASE_URL: connectionString, REDIS_PORT } = process.env;

const ENGINES = {
  async "pg-boss"(work) {
    const boss = new PgBoss({ connectionString, useListenNotify: true });
    boss.on("error", (error) => console.error(error));
    await boss.start();
    if (!(await boss.getQueue("jobs"))) await boss.createQueue("jobs", { notify: true });
    return {
      add: (jobs) => boss.insert("jobs", jobs.map((data) => ({ data }))),
      start: () =>
        boss.work("jobs", { batchSize: 100, localConcurrency: AT_ONCE, burstWhenBatchFull: true }, async (batch) => {
          for (const { data } of batch) await work(data);
        }),
      stop: () => boss.stop(),
    };
  },
  async "graphile-worker"(work) {
    const utils = await makeWorkerUtils({ connectionString });
    await utils.migrate();
    let runner;
    return {
      add: (jobs) => utils.addJobs(jobs.map((payload) => ({ identifier: "job", payload }))),
      async start() {
        const worker = { concurrentJobs: AT_ONCE, localQueue: { size: 500 } };
        const preset = { worker: { ...worker, completeJobBatchDelay: 0, failJobBatchDelay: 0, connectionString } };
        runner = await run({ preset, taskList: { job: work }, noHandleSignals: true });
      },
      async stop() {
        await runner?.stop();
        await utils.release();
      },
    };
  },
  async BullMQ(work) {
    const connection = { host: "127.0.0.1", port: Number(REDIS_PORT) };
    const queue = new Queue("jobs", { connection, defaultJobOptions: { removeOnComplete: true } });
    let worker;
    return {
      add: (jobs) => queue.addBulk(jobs.map((data) => ({ name: "job", data }))),
      async start() {
        worker = new Worker("jobs", ({ data }) => work(data), { connection, concurrency: AT_ONCE });
        await worker.waitUntilReady();
      },
      async stop() {
        await worker?.close();
        await queue.close();
      },
    };
  },
};

const [name, mode, countText, url] = process.argv.slice(2);
const count = Number(countText);
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const waits = [];
let done = 0;
let onDone = () => {};
const allDone = new Promise((resolve) => {
  onDone = resolve;
});

async function work({ sentAt, text }) {
  if (sentAt !== undefined) waits.push(performance.now() - sentAt);
  if (url) await post(text);
  if (++done === count) onDone();
}

function post(text) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent }, (response) => response.resume().on("end", resolve));
    sent.on("error", reject).end(text);
  });
}

const text = "x".repeat(250);
const engine = await ENGINES[name](work);
if (mode === "fill") {
  for (let from = 0; from < count; from += BATCH) {
    await engine.add(Array.from({ length: Math.min(BATCH, count - from) }, () => ({ text })));
  }
} else {
  const [from, cpu] = [performance.now(), process.cpuUsage()];
  await engine.start();
  if (mode === "latency") {
    for (let sent = 0; sent < count; sent++) {
      await delay(Math.max(0, from + (sent * 1000) / PER_SECOND - performance.now()));
      void engine.add([{ sentAt: performance.now(), text }]);
    }
  }
  await allDone;
  await engine.stop();
  const seconds = (performance.now() - from) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  console.log(`RESULT ${JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6, waits })}`);
}
if (mode === "fill") await engine.stop();
process.exit(0);
