// A peer for measurement, what many would write by hand: Express, @octokit/webhooks, and BullMQ in Redis. A delivery is
// acknowledged when Redis has the job. A worker processes the jobs in the same process.
import { Webhooks } from "@octokit/webhooks";
import { Queue, Worker } from "bullmq";
import express from "express";

const { PORT, REDIS_PORT, WEBHOOK_SECRET: secret = "" } = process.env;
const connection = { host: "127.0.0.1", port: Number(REDIS_PORT) };
const defaultJobOptions = { attempts: 5, backoff: { type: "exponential", delay: 1000 }, removeOnComplete: 1000 };
const queue = new Queue("events", { connection, defaultJobOptions });
new Worker("events", async () => {}, { connection, concurrency: 50 });
const webhooks = new Webhooks({ secret });

const app = express();
app.post("/webhook", express.text({ type: "application/json" }), async (request, response) => {
  if (!(await webhooks.verify(request.body, `sha256=${request.get("x-signature")}`))) {
    response.sendStatus(403);
    return;
  }
  const event = JSON.parse(request.body);
  await queue.add(event.type, event, { jobId: event.id });
  response.json({ received: true });
});
app.listen(Number(PORT), "127.0.0.1");
