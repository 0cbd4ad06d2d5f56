import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { ask, event, logIn, post, tryLogin } from "../../helpers/client.ts";
import { needsPrometheus, type PrometheusProcess, startPrometheus } from "../../helpers/prometheus-process.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { PLAUSIBLE, signature } from "../../helpers/sign.ts";
import { type ForwardTarget, startTarget } from "../../helpers/target.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const DEPLOY = join(import.meta.dirname, "../../../deploy");
const RULES = join(DEPLOY, "prometheus-rules.yml");

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { h: number; w: number; x: number; y: number };
  fieldConfig: { defaults: { unit?: string; mappings?: unknown[] } };
  targets?: { expr: string; datasource: { uid: string } }[];
}

interface Dashboard {
  uid: string;
  id: null;
  panels: Panel[];
  templating: { list: { name: string; type: string; query: unknown }[] };
}

const dashboard = JSON.parse(readFileSync(join(DEPLOY, "grafana-dashboard.json"), "utf8")) as Dashboard;
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

const JOB = "authserve";
const SECRET = "a secret of the tests";

/** Metrics that the server of this test cannot have. */
const ABSENT = [
  "authserve_source_missed_seconds",
  "authserve_source_subscription_at_risk",
  "authserve_certificate_not_after_timestamp_seconds",
  "authserve_token_not_after_timestamp_seconds",
  "authserve_new_login_network_timestamp_seconds",
];

/** The metrics that a text names. */
const metricsIn = (text: string) => text.match(/\b(?:authserve|nodejs|process)_\w+/g) ?? [];

const hasAbsentMetric = (expr: string) => metricsIn(expr).some((name) => ABSENT.includes(name));

const configuration = (target: string) => `
sources:
  shop: { verify: { header: x-sig, prefix: sha256= }, secrets: [env:SHOP_SECRET], expectEvery: 1s }
  silent: { verify: { header: x-sig }, secrets: [env:SHOP_SECRET], expectEvery: 1s }
routes:
  - { name: log, types: [order.paid], log: {} }
  - { name: broken, types: [order.lost], to: "${target}", retry: { attempts: 1 } }
clients:
  app: { redirects: ["http://127.0.0.1/callback"], public: true }
`;

suite("a Prometheus that scrapes a server", needsPrometheus(), () => {
  let target: ForwardTarget;
  let server: Server;
  let prometheus: PrometheusProcess;

  before(async () => {
    target = await startTarget();
    target.answer((_, response) => void response.writeHead(500).end());
    const dir = workingDir();
    writeFileSync(join(dir, "authserve.yaml"), configuration(target.url));
    // A small mark: the test machine may have little space.
    server = await startServer({ dir, env: { SHOP_SECRET: SECRET, MIN_FREE_DISK: "1k" } });
    prometheus = await startPrometheus(JOB, server.port, [RULES]);
    // Counters must have been seen before they rise.
    await scraped(1);
    await useServer();
    // One may have begun before.
    await scraped(2);
  });
  after(async () => {
    for (const started of [prometheus, server, target]) await started?.[Symbol.asyncDispose]();
  });

  /** Waits for more scrapes that succeed. */
  async function scraped(times: number): Promise<void> {
    const scrapes = `sum_over_time(up{job="${JOB}"}[1h])`;
    const earlier = (await prometheus.valueOf(scrapes)) || 0;
    await until(async () => (await prometheus.valueOf(scrapes)) >= earlier + times);
  }

  async function useServer(): Promise<void> {
    const deliver = (body: object, sent = signature(JSON.stringify(body), SECRET)) =>
      post(server, "/webhook/shop", body, { "X-Sig": sent });
    const paid = event("paid");
    for (const status of [200, 200]) assert.equal((await deliver(paid)).status, status);
    assert.equal((await deliver(event("lost", { type: "order.lost" }))).status, 200);
    assert.equal((await deliver(event("forged"), PLAUSIBLE)).status, 403);
    await logIn(server);
    assert.equal((await tryLogin(server, { password: "wrong password" })).status, 401);
    await server.logged("event_processed");
    await server.logged("event_dead_lettered");
  }

  const filled = (expr: string) => expr.replaceAll("$__rate_interval", "1m").replaceAll("$job", JOB);

  test("gets a number from every query of the dashboard", async () => {
    const faultOf = async ({ title, expr }: { title: string; expr: string }) => {
      const series = await prometheus.query(filled(expr)).catch((error: Error) => error.message);
      const isFilled =
        series.length > 0 && typeof series !== "string" && series.every(({ value }) => !Number.isNaN(value));
      return isFilled === hasAbsentMetric(expr) ? { title, expr, series } : null;
    };
    let faults: unknown[] = [];
    // The newest scrape may have failed on a busy machine.
    await until(async () => {
      faults = (await Promise.all(queries.map(faultOf))).filter((fault) => fault !== null);
      return faults.length === 0;
    }).catch(() => {});
    assert.deepEqual(faults, []);
  });

  test("finds every metric that the rules and the dashboard name", async () => {
    const { text } = await ask(server, "/metrics");
    const exposed = new Set(Array.from(text.matchAll(/^(\w+)(?:\{| )/gm), ([, name]) => name));
    const named = metricsIn(`${readFileSync(RULES, "utf8")} ${JSON.stringify(dashboard)}`);
    assert.ok(named.length > 50);
    const missing = new Set(named.filter((name) => !exposed.has(name)));
    assert.deepEqual([...missing], ABSENT);
  });

  test("evaluates every rule, and fires the alerts on dead letters and on a silent source", async () => {
    const evaluated = async () => (await prometheus.rules()).every(({ health }) => health !== "unknown");
    await until(evaluated);
    const faults = (await prometheus.rules()).filter(({ health }) => health !== "ok");
    assert.deepEqual(faults, []);
    let firing: unknown[] = [];
    // The source `silent` has never received anything. On a machine that stalls, an alert on that may fire, too.
    await until(async () => {
      const alerts = await prometheus.query('ALERTS{alertstate="firing"}');
      firing = alerts.map(({ metric }) => [metric.alertname, metric.source]).sort();
      return isDeepStrictEqual(firing, [
        ["AuthserveDeadLetters", undefined],
        ["AuthserveSourceSilent", "shop"],
      ]);
    }).catch(() => assert.fail(`these fire: ${JSON.stringify(firing)}`));
  });
});

suite("the dashboard", () => {
  test("can be loaded again under the same address, with any data source", () => {
    assert.deepEqual([dashboard.uid, dashboard.id], ["authserve", null]);
    const [source, ...others] = dashboard.templating.list;
    assert.deepEqual([source?.name, source?.type, source?.query], ["datasource", "datasource", "prometheus"]);
    assert.deepEqual(
      others.map(({ name }) => name),
      ["job"],
    );
    const sources = panels.flatMap(({ targets = [] }) => targets.map(({ datasource }) => datasource.uid));
    assert.ok(sources.every((uid) => /^\$\{datasource\}$/.test(uid)));
  });

  test("each panel has a title of its own, a description and a unit", () => {
    const titles = panels.map(({ title }) => title);
    assert.deepEqual(titles, [...new Set(titles)]);
    for (const { title, type, description, fieldConfig, targets = [] } of panels) {
      assert.match(description ?? "", /^[A-Z].*\.$/, title);
      assert.ok(targets.length > 0, title);
      const { unit, mappings } = fieldConfig.defaults;
      assert.ok(type === "state-timeline" ? mappings : unit, title);
    }
  });

  test("panels have different ids, and do not overlap", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length);
    assert.ok(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24));
  });
});
