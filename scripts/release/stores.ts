import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { MARK } from "../../src/http/icon.ts";
import { ROOT } from "../build/bundle.ts";
import type { Release } from "./release.ts";

/** A setting that a store asks for. */
interface StoreSetting {
  name: string;
  label: string;
  help: string;
  type: "url" | "email" | "password" | "text";
  default?: string;
  required: boolean;
}

/** The content of `deploy/stores/app.yaml`. */
interface App {
  id: string;
  name: string;
  tagline: string;
  description: string;
  website: string;
  developer: string;
  port: number;
  data: string;
  command: string[];
  health: object;
  stop_grace_period: string;
  screenshots: string[];
  settings: StoreSetting[];
}

/** What differs between releases. */
interface Edition {
  /** The image with its tag. */
  image: string;
  version: string;
  /** Milliseconds since 1970. */
  time: number;
}

type Files = Record<string, string | Buffer>;

const FOLDER = join(ROOT, "deploy/stores");
const ARCHITECTURES = ["amd64", "arm64"];
/** Stands where the user of a store without a form writes the address of the machine. */
const exampleUrl = (port: number) => `http://192.168.1.10:${port}`;

/** Writes the folder `stores`: the entry of each app store, made from `deploy/stores/app.yaml`. */
export function writeStores(release: Release, registry: string): void {
  const edition = { image: `${registry}:${release.version}`, version: release.version, time: release.time * 1000 };
  for (const [name, content] of Object.entries(storeFiles(edition))) release.write(`stores/${name}`, content);
}

/** The files of all stores, by their path in the folder `stores`. */
export function storeFiles(edition: Edition): Files {
  const app = parse(readFileSync(join(FOLDER, "app.yaml"), "utf8")) as App;
  const stores = [unraid, runtipi, casaos, umbrel, coolify, truenas].map((store) => store(app, edition));
  const pictures = app.screenshots.map((name) => [`pictures/${name}`, readFileSync(join(ROOT, "docs/pictures", name))]);
  return Object.assign(Object.fromEntries(pictures), { "icon.svg": `${MARK}\n`, "logo.jpg": logo() }, ...stores);
}

const yaml = (content: object) => stringify(content, { lineWidth: 0, version: "1.1" });
const variable = (name: string) => `\${${name}}`;
const logo = () => readFileSync(join(FOLDER, "logo.jpg"));
const picture =
  ({ website }: App) =>
  (name: string) =>
    `${website}/pictures/${name}`;

/** The service of a Compose file. What is undefined is left out. */
function service(app: App, { image }: Edition, more: object): object {
  const { command, health: healthcheck, stop_grace_period } = app;
  return { image, command, init: true, ...more, healthcheck, stop_grace_period };
}

/** The settings as the environment of a Compose file; each has `answers`, its default, or nothing. */
function environment({ settings }: App, answers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(settings.map(({ name, default: text = "" }) => [name, answers[name] ?? text]));
}

/**
 * A template of Unraid. Its elements: https://wiki.unraid.net/DockerTemplateSchema. Unraid makes the data folder for the
 * user 99 and the group 100: https://github.com/unraid/webgui, `dynamix.docker.manager/include/Helpers.php`.
 */
function unraid(app: App, { image }: Edition): Files {
  const escaped = (text: string) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  const element = (name: string, text: string) => `  <${name}>${escaped(text)}</${name}>`;
  const config = (type: string, values: Record<string, string>, value: string) => {
    const attributes = Object.entries({ Display: "always", Required: "true", Mask: "false", ...values, Type: type });
    const written = attributes.map(([name, text]) => ` ${name}="${escaped(text)}"`).join("");
    return `  <Config${written}>${escaped(value)}</Config>`;
  };
  const folder = `/mnt/user/appdata/${app.id}`;
  const lines = [
    '<?xml version="1.0"?>',
    '<Container version="2">',
    element("Name", app.name),
    element("Repository", image),
    element("Network", "bridge"),
    element("Privileged", "false"),
    element("Support", app.website),
    element("Project", app.website),
    element("Overview", app.description),
    element("Category", "Security: Tools:Utilities"),
    element("WebUI", `http://[IP]:[PORT:${app.port}]/admin/`),
    element("Icon", `${app.website}/logo.jpg`),
    ...app.screenshots.map((name) => element("Screenshot", picture(app)(name))),
    element("ExtraParams", "--user 99:100 --init --stop-timeout 20"),
    element("PostArgs", app.command.join(" ")),
    config("Port", { Name: "Port", Target: `${app.port}`, Default: `${app.port}`, Mode: "tcp" }, `${app.port}`),
    config("Path", { Name: "Data", Target: app.data, Default: folder, Mode: "rw" }, folder),
    ...app.settings.map(({ name, label, help, type, default: text = "", required }) => {
      const flags = { Required: `${required}`, Mask: `${type === "password"}` };
      return config("Variable", { Name: label, Target: name, Default: text, Description: help, ...flags }, text);
    }),
    "</Container>",
  ];
  return { "unraid/authserve.xml": `${lines.join("\n")}\n` };
}

/**
 * An app of a store for Runtipi: https://runtipi.io/docs/reference/config-json and
 * https://www.runtipi.io/docs/reference/dynamic-compose. `APP_PROTOCOL` and `APP_DOMAIN` are the address that it opens.
 */
function runtipi(app: App, edition: Edition): Files {
  const own = { PUBLIC_URL: `${variable("APP_PROTOCOL:-http")}://${variable("APP_DOMAIN")}` };
  const asked = app.settings.filter(({ name }) => !(name in own));
  const fields = asked.map(({ name, label, help, type, default: text, required }) => ({
    type,
    label,
    hint: help,
    ...(text !== undefined && { default: text }),
    required,
    env_variable: name,
  }));
  const config = {
    $schema: "../app-info-schema.json",
    name: app.name,
    id: app.id,
    available: true,
    exposable: true,
    dynamic_config: true,
    min_tipi_version: "4.8.0",
    port: 8637,
    uid: 1000,
    gid: 1000,
    tipi_version: 1,
    version: edition.version,
    categories: ["security", "network"],
    short_desc: app.tagline,
    description: app.description,
    author: app.developer,
    source: app.website,
    website: app.website,
    url_suffix: "/admin/",
    form_fields: fields,
    supported_architectures: ARCHITECTURES,
    created_at: edition.time,
    updated_at: edition.time,
  };
  const answers = Object.fromEntries(asked.map(({ name }) => [name, variable(`${name}:-`)]));
  const compose = {
    services: {
      [app.id]: service(app, edition, {
        user: "1000:1000",
        environment: environment(app, { ...answers, ...own }),
        volumes: [`${variable("APP_DATA_DIR")}/data:${app.data}`],
        restart: "unless-stopped",
        "x-runtipi": { is_main: true, internal_port: app.port },
      }),
    },
    "x-runtipi": { schema_version: 2, overrides: [] },
  };
  return {
    "runtipi/authserve/config.json": `${JSON.stringify(config, null, 2)}\n`,
    "runtipi/authserve/docker-compose.yml": yaml(compose),
    "runtipi/authserve/metadata/description.md": `# ${app.name}\n\n${app.description}\n`,
    "runtipi/authserve/metadata/logo.jpg": logo(),
  };
}

/**
 * An app of CasaOS and ZimaOS: https://github.com/IceWhaleTech/CasaOS-AppStore, `docs/specs/compose-and-x-casaos.md`.
 * It has no form, so the user edits the environment at the installation. Docker makes the data folder for root. Without
 * capabilities, root can write what belongs to it and no more.
 */
function casaos(app: App, edition: Edition): Files {
  const port = "13637";
  const before = `Set PUBLIC_URL to the address that you will open, and INITIAL_PASSWORD to your password. ${app.settings
    .filter(({ name }) => name === "PUBLIC_URL" || name === "INITIAL_PASSWORD")
    .map(({ name, help }) => `${name}: ${help}`)
    .join(" ")}`;
  const image = picture(app);
  const compose = {
    name: app.id,
    services: {
      [app.id]: service(app, edition, {
        user: "0:0",
        cap_drop: ["ALL"],
        environment: environment(app, { PUBLIC_URL: exampleUrl(Number(port)) }),
        ports: [{ target: app.port, published: port, protocol: "tcp" }],
        volumes: [{ type: "bind", source: "/DATA/AppData/$AppID/data", target: app.data }],
        restart: "unless-stopped",
        container_name: app.id,
      }),
    },
    "x-casaos": {
      id: `org.${app.id}.${app.id}`,
      main: app.id,
      index: "/admin/",
      port_map: port,
      scheme: "http",
      icon: `${app.website}/icon.svg`,
      title: { en_US: app.name },
      tagline: { en_US: app.tagline },
      description: { en_US: app.description },
      tips: { before_install: { en_US: before } },
      screenshot_link: app.screenshots.map(image),
      author: app.developer,
      developer: app.developer,
      category: "Networking",
      architectures: ARCHITECTURES,
      version: edition.version,
      website: app.website,
    },
  };
  return { "casaos/Authserve/docker-compose.yml": yaml(compose), "casaos/Authserve/icon.svg": `${MARK}\n` };
}

/**
 * An app of umbrelOS: https://github.com/getumbrel/umbrel-apps, `.tools/lint-apps.mjs`, and the variables and the owner of
 * the data folder in `.claude/skills/umbrel-package-app/SKILL.md`. It has no form. Umbrel shows `APP_PASSWORD`.
 */
function umbrel(app: App, edition: Edition): Files {
  const [{ default: email = "" } = {}] = app.settings.filter(({ name }) => name === "DEMO_EMAIL");
  const manifest = {
    manifestVersion: 1,
    id: app.id,
    category: "networking",
    name: app.name,
    version: edition.version,
    tagline: app.tagline,
    description: app.description,
    releaseNotes: "",
    developer: app.developer,
    website: app.website,
    dependencies: [],
    repo: app.website,
    support: app.website,
    port: 3637,
    gallery: [],
    path: "/admin/",
    defaultUsername: email,
    deterministicPassword: true,
    submitter: app.developer,
    submission: app.website,
  };
  const compose = {
    version: "3.7",
    services: {
      // Senders of webhooks and apps behind the login have no session of Umbrel, and authserve has a login of its own.
      app_proxy: { environment: { APP_HOST: `${app.id}_server_1`, APP_PORT: app.port, PROXY_AUTH_ADD: "false" } },
      server: service(app, edition, {
        user: "1000:1000",
        environment: environment(app, {
          PUBLIC_URL: `http://${variable("DEVICE_DOMAIN_NAME")}:${variable("APP_PROXY_PORT")}`,
          INITIAL_PASSWORD: variable("APP_PASSWORD"),
          TRUSTED_PROXIES: `${variable("NETWORK_IP")}/16`,
        }),
        volumes: [`${variable("APP_DATA_DIR")}/data:${app.data}`],
        restart: "on-failure",
      }),
    },
  };
  return {
    "umbrel/authserve/umbrel-app.yml": yaml(manifest),
    "umbrel/authserve/docker-compose.yml": yaml(compose),
    "umbrel/authserve/data/.gitkeep": "",
  };
}

/**
 * A service of Coolify: https://github.com/coollabsio/coolify, `templates/compose` and, for the magic variables,
 * `bootstrap/helpers/shared.php`. Only Coolify's proxy reaches the port, so addresses of Docker's networks are trusted.
 */
function coolify(app: App, edition: Edition): Files {
  const header = {
    documentation: app.website,
    slogan: app.tagline,
    category: "auth",
    tags: "login,sso,passkey,webhook,forward-auth",
    logo: "svgs/authserve.svg",
    port: `${app.port}`,
  };
  const own = {
    PUBLIC_URL: variable("SERVICE_URL_AUTHSERVE"),
    INITIAL_PASSWORD: variable("SERVICE_PASSWORD_AUTHSERVE"),
    TRUSTED_PROXIES: "10.0.0.0/8,172.16.0.0/12",
  };
  const asked = app.settings.filter(({ name }) => !(name in own));
  const answers = Object.fromEntries(asked.map(({ name, default: text = "" }) => [name, variable(`${name}:-${text}`)]));
  const variables = Object.entries(environment(app, { ...answers, ...own })).map(([name, value]) => `${name}=${value}`);
  const compose = {
    services: {
      [app.id]: service(app, edition, {
        environment: [`SERVICE_URL_AUTHSERVE_${app.port}`, ...variables],
        volumes: [`authserve-data:${app.data}`],
      }),
    },
  };
  const comments = Object.entries(header).map(([name, text]) => `# ${name}: ${text}\n`);
  // The domain that Coolify makes up is plain HTTP on a public name, which the server refuses.
  const note = "# Give the service an https domain before its first start.\n";
  return {
    "coolify/authserve.yaml": `${comments.join("")}${note}\n${yaml(compose)}`,
    "coolify/authserve.svg": `${MARK}\n`,
  };
}

/**
 * A custom app of TrueNAS, for "Install via YAML". The catalog takes templates of a library of its own only:
 * https://github.com/truenas/apps, `CONTRIBUTIONS.md`. Apps run as the user 568 there, to whom the dataset must belong.
 */
function truenas(app: App, edition: Edition): Files {
  const port = 30637;
  const compose = {
    services: {
      [app.id]: service(app, edition, {
        user: "568:568",
        environment: environment(app, { PUBLIC_URL: exampleUrl(port) }),
        ports: [`${port}:${app.port}`],
        volumes: [`/mnt/tank/apps/authserve:${app.data}`],
        restart: "unless-stopped",
      }),
    },
  };
  const comments = [
    "A custom app of TrueNAS, not one of its catalog: Apps, Discover Apps, Custom App, Install via YAML.",
    "Make a dataset that belongs to the user and group apps (568), and set its path in volumes. Set in environment:",
    ...app.settings.map(({ name, help }) => `${name}: ${help}`),
  ];
  return { "truenas/authserve.yaml": `${comments.map((line) => `# ${line}\n`).join("")}\n${yaml(compose)}` };
}
