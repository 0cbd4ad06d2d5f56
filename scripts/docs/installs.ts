import { code, page, table } from "./markdown.ts";

/** A file that people install from, or a folder of files that belong together, and what tries it. */
interface Install {
  /** Its path in the checkout, or what a release calls it. */
  file: string;
  /** What makes a file that only a release has. */
  madeBy?: string;
  /** What starts it and uses what runs then: the program, and the test. */
  started?: Trial;
  /** What only reads or checks it. Without both, nothing does. */
  linted?: Trial;
}

type Trial = readonly [by: string, test: string];

const PROXY_TESTS = "test/backends/deploy/as-they-are.test.ts";
const CLUSTER_TEST = "test/backends/deploy/cluster.test.ts";
const STORES_TEST = "test/release/stores.test.ts";
const COMPOSE_LINT: Trial = ["schema of Compose", "test/release/compose.test.ts"];
const SYSTEMD: Trial = ["systemd of Debian", ".ci/deploy"];

/** The entry of an app store: the test starts the image as the entry says, not the store. */
function storeEntry(file: string): Install {
  return {
    file: `stores/${file}`,
    madeBy: "scripts/release/stores.ts",
    started: ["Podman in place of the store", STORES_TEST],
  };
}

/** Every file that people install from. */
export const INSTALLS: readonly Install[] = [
  { file: "deploy/Caddyfile", started: ["Caddy", PROXY_TESTS] },
  { file: "deploy/Caddyfile.app", started: ["Caddy", PROXY_TESTS] },
  { file: "deploy/Caddyfile.compose", linted: ["`caddy adapt`", "test/release/compose.test.ts"] },
  { file: "deploy/nginx.conf", started: ["nginx", PROXY_TESTS] },
  { file: "deploy/nginx-app.conf", started: ["nginx", PROXY_TESTS] },
  { file: "deploy/nginx", started: ["nginx as Nginx Proxy Manager has it", PROXY_TESTS] },
  { file: "deploy/swag", started: ["nginx as SWAG has it", PROXY_TESTS] },
  { file: "deploy/haproxy-app.cfg", started: ["HAProxy", PROXY_TESTS] },
  { file: "deploy/haproxy-authserve.lua", started: ["HAProxy", PROXY_TESTS] },
  { file: "deploy/traefik-app.yaml", linted: ["types of Traefik", "test/release/kubernetes.test.ts"] },
  { file: "deploy/authserve.service", started: SYSTEMD },
  { file: "deploy/service-authserve", started: SYSTEMD },
  { file: "deploy/authserve-backup.service" },
  { file: "deploy/authserve-backup.timer" },
  { file: "authserve_*.deb", madeBy: "scripts/release/debian.ts", started: ["systemd of Debian", ".ci/deploy"] },
  { file: "authserve-*.rpm", madeBy: "scripts/release/rpm.ts", started: ["rpm of Debian", ".ci/deploy"] },
  { file: "install.sh", madeBy: "scripts/release/installer.ts", started: SYSTEMD },
  { file: "authserve-*.tgz", madeBy: "scripts/release/npm.ts", started: ["npm", "test/release/npm.test.ts"] },
  {
    file: "authserve-*-image-*.tar",
    madeBy: "scripts/release/image.ts",
    started: ["Podman", "test/release/image.test.ts"],
  },
  { file: "deploy/compose.yaml", linted: COMPOSE_LINT },
  { file: "deploy/compose.redis.yaml", linted: COMPOSE_LINT },
  { file: "deploy/compose.postgresql.yaml", linted: COMPOSE_LINT },
  { file: "deploy/compose.traefik.yaml", linted: COMPOSE_LINT },
  { file: "deploy/quadlet", linted: ["generator of Podman", ".ci/quadlet"] },
  { file: "deploy/stores", started: ["its entries below", STORES_TEST] },
  storeEntry("unraid/authserve.xml"),
  storeEntry("runtipi/authserve"),
  storeEntry("casaos/Authserve"),
  storeEntry("umbrel/authserve"),
  storeEntry("coolify/authserve.yaml"),
  storeEntry("truenas/authserve.yaml"),
  { file: "deploy/helm/authserve", linted: ["engine of Helm, schemas of Kubernetes", "test/release/chart.test.ts"] },
  {
    file: "deploy/kubernetes",
    linted: ["types of Kubernetes and the Gateway API, known annotations", "test/release/kubernetes.test.ts"],
  },
  {
    file: "deploy/proxmox",
    started: ["the part in the container, by systemd-nspawn", ".ci/automation"],
    linted: ["the part on the host, with stand-ins for `pct` and `pveam`", ".ci/automation"],
  },
  { file: "deploy/ansible", started: ["Ansible on Debian", ".ci/automation"] },
  { file: "deploy/nix", linted: ["`nix-instantiate --parse`", ".ci/automation"] },
  { file: "deploy/homebrew", linted: ["`ruby -c`", ".ci/automation"] },
  { file: "apt/", madeBy: "scripts/release/repositories.ts", started: ["apt of Debian", ".ci/repositories"] },
  { file: "rpm/", madeBy: "scripts/release/repositories.ts", started: ["dnf of Debian", ".ci/repositories"] },
  { file: "deploy/cluster/compose.yaml", linted: COMPOSE_LINT },
  { file: "deploy/cluster/haproxy.cfg", started: ["HAProxy", CLUSTER_TEST] },
  { file: "deploy/cluster/haproxy-compose.cfg", linted: ["`haproxy -c`", CLUSTER_TEST] },
  { file: "deploy/cluster/nginx.conf", started: ["nginx", CLUSTER_TEST] },
  { file: "deploy/cluster/postgresql-primary.conf", started: ["PostgreSQL", CLUSTER_TEST] },
  { file: "deploy/cluster/postgresql-standby.conf", started: ["PostgreSQL", CLUSTER_TEST] },
  { file: "deploy/cluster/authserve.conf", linted: ["names of settings", CLUSTER_TEST] },
  { file: "deploy/cluster/Dockerfile", linted: ["names of settings", CLUSTER_TEST] },
  { file: "deploy/cluster/compose-primary.sh" },
  { file: "deploy/cluster/compose-standby.sh" },
  { file: "deploy/prometheus-rules.yml", started: ["Prometheus", "test/backends/deploy/prometheus.test.ts"] },
  {
    file: "deploy/grafana-dashboard.json",
    linted: ["queries, by Prometheus", "test/backends/deploy/prometheus.test.ts"],
  },
];

/** The page of files that people install from. */
export function installsPage(): string {
  const shown = (trial?: Trial) => (trial ? `${trial[0]}: ${code(trial[1])}` : "");
  return page(
    "Files to install from",
    "What the tests do with each file: they start it, and use what runs then, or only check its form. A row with neither is not tested.",
    table(
      ["File", "Started", "Only linted"],
      INSTALLS.map(({ file, started, linted }) => [code(file), shown(started), shown(linted)]),
    ),
  );
}
