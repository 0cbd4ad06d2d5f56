import assert from "node:assert/strict";
import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { ownTarget } from "../../scripts/build/targets.ts";
import { buildImage } from "../../scripts/release/image.ts";
import { storeFiles } from "../../scripts/release/stores.ts";
import { isSettingName } from "../../src/config/settings.ts";
import { needsAll } from "../helpers/back-end.ts";
import { BINARY, binaryIsMissing } from "../helpers/binary.ts";
import { freePort } from "../helpers/ports.ts";
import { until } from "../helpers/until.ts";
import { needsReleasePackages, PACKAGES } from "./packages.ts";
import { needsContainers, Podman } from "./podman.ts";

const IMAGE = `localhost/authserve:${packageJson.version}`;
const TIME = 1_700_000_000;
const PASSWORD = "of the first start";
const EMAIL = "you@example.com";
const FILES = storeFiles({ image: IMAGE, version: packageJson.version, time: TIME * 1000 });
const read = (name: string) => String(FILES[name]);

/** How a store starts an app, by the file of its entry. */
interface Entry {
  image: string;
  command: string[];
  user: string | undefined;
  environment: Record<string, string>;
  /** The folder of the machine, or the name of a volume, and its place in the container. */
  volume: [source: string, target: string];
  /** The port inside. */
  port: number;
  health: string[];
  capDrop: string[];
}

interface Store {
  file: string;
  entry(file: string): Entry;
  /** What the store itself sets for a file, and what its user answers or edits. */
  variables?: Record<string, string>;
  answers?: Record<string, string>;
  /** Who owns the data folder that the store makes; none for a volume of Docker. */
  owner?: [uid: number, gid: number];
}

interface Service {
  image: string;
  command: string[];
  user?: string;
  environment: Record<string, string> | string[];
  volumes: (string | { source: string; target: string })[];
  ports?: (string | { target: number })[];
  healthcheck: { test: string[] };
  cap_drop?: string[];
  "x-runtipi"?: { internal_port: number };
}

interface Compose {
  services: Record<string, Service>;
}

const readCompose = (file: string) => parse(file, { version: "1.1" }) as Compose;
const mainService = ({ services }: Compose) => (services.authserve ?? services.server) as Service;

/** The main service of a Compose file. Its port is that of the mapping, unless the store has another place for it. */
function composeEntry(file: string, port?: number | string): Entry {
  const {
    image,
    command,
    user,
    environment,
    volumes,
    ports = [],
    healthcheck,
    cap_drop,
  } = mainService(readCompose(file));
  const pairs = Array.isArray(environment)
    ? environment.map((line) => /^([^=]*)=?(.*)$/.exec(line)?.slice(1) as [string, string])
    : Object.entries(environment);
  const [volume = ""] = volumes;
  const [mapping = ""] = ports;
  return {
    image,
    command,
    user,
    environment: Object.fromEntries(pairs),
    volume:
      typeof volume === "string" ? (volume.split(/:(?=\/var)/) as [string, string]) : [volume.source, volume.target],
    port: Number(port ?? (typeof mapping === "string" ? mapping.split(":")[1] : mapping.target)),
    health: healthcheck.test,
    capDrop: cap_drop ?? [],
  };
}

/** A template of Unraid, which has no health check: that of the image counts. */
function unraidEntry(file: string): Entry {
  const plain = (text = "") =>
    text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  const element = (name: string) => plain(new RegExp(`<${name}>(.*)</${name}>`).exec(file)?.[1]);
  const configs = Array.from(file.matchAll(/<Config (.*)>(.*)<\/Config>/g), ([, attributes = "", value]) => ({
    ...Object.fromEntries(Array.from(attributes.matchAll(/(\w+)="([^"]*)"/g), ([, name, text]) => [name, plain(text)])),
    value: plain(value),
  })) as { Type: string; Target: string; value: string }[];
  const of = (type: string) => configs.filter(({ Type }) => Type === type);
  const [path] = of("Path");
  return {
    image: element("Repository"),
    command: element("PostArgs").split(" "),
    user: /--user (\S+)/.exec(element("ExtraParams"))?.[1],
    environment: Object.fromEntries(of("Variable").map(({ Target, value }) => [Target, value])),
    volume: [path?.value ?? "", path?.Target ?? ""],
    port: Number(of("Port")[0]?.Target),
    health: ["CMD", "/usr/local/bin/authserve", "ready"],
    capDrop: [],
  };
}

const STORES: Record<string, Store> = {
  Unraid: {
    file: "unraid/authserve.xml",
    entry: unraidEntry,
    answers: { PUBLIC_URL: "http://tower.local:3000", DEMO_EMAIL: EMAIL, INITIAL_PASSWORD: PASSWORD },
    owner: [99, 100],
  },
  Runtipi: {
    file: "runtipi/authserve/docker-compose.yml",
    entry: (file) => composeEntry(file, mainService(readCompose(file))["x-runtipi"]?.internal_port),
    variables: {
      APP_DOMAIN: "192.168.1.10:8637",
      APP_DATA_DIR: "/runtipi/app-data",
      DEMO_EMAIL: EMAIL,
      INITIAL_PASSWORD: PASSWORD,
    },
    owner: [1000, 1000],
  },
  CasaOS: {
    file: "casaos/Authserve/docker-compose.yml",
    entry: (file) => composeEntry(file),
    variables: { AppID: "authserve" },
    answers: { DEMO_EMAIL: EMAIL, INITIAL_PASSWORD: PASSWORD },
    owner: [0, 0],
  },
  Umbrel: {
    file: "umbrel/authserve/docker-compose.yml",
    entry: (file) => composeEntry(file, /APP_PORT: (\d+)/.exec(file)?.[1]),
    variables: {
      DEVICE_DOMAIN_NAME: "umbrel.local",
      APP_PROXY_PORT: "3637",
      APP_PASSWORD: PASSWORD,
      APP_DATA_DIR: "/umbrel/app-data/authserve",
      NETWORK_IP: "10.21.0.0",
    },
    owner: [1000, 1000],
  },
  Coolify: {
    file: "coolify/authserve.yaml",
    entry: (file) => composeEntry(file, /^# port: (\d+)$/m.exec(file)?.[1]),
    variables: { SERVICE_URL_AUTHSERVE: "https://auth.example.com", SERVICE_PASSWORD_AUTHSERVE: PASSWORD },
  },
  TrueNAS: {
    file: "truenas/authserve.yaml",
    entry: (file) => composeEntry(file),
    answers: { DEMO_EMAIL: EMAIL, INITIAL_PASSWORD: PASSWORD },
    owner: [568, 568],
  },
};

/** Puts variables into a value as Compose does, and fails for one that the store does not set. */
function interpolated(text: string, variables: Record<string, string>): string {
  return text.replace(/\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))/g, (_, braced, fallback, bare) => {
    const value = variables[braced ?? bare] ?? fallback;
    assert.notEqual(value, undefined, `the store does not set ${braced ?? bare}`);
    return value;
  });
}

interface Reply {
  status: number | undefined;
  location: string | undefined;
  cookie: string;
  text: string;
}

/** Asks as a browser that opened an address, whose requests reach the server on a port of this machine. */
async function visit(address: string, port: number, path: string, { cookie = "", form = "" } = {}): Promise<Reply> {
  const { host, origin, protocol } = new URL(address);
  const headers = {
    host,
    accept: "text/html",
    "x-forwarded-proto": protocol.slice(0, -1),
    ...(cookie && { cookie }),
    ...(form && { origin, "content-type": "application/x-www-form-urlencoded" }),
  };
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sending = request(
    { host: "127.0.0.1", port, path, method: form ? "POST" : "GET", headers },
    async (response) => {
      const cookies = (response.headers["set-cookie"] ?? []).map((line) => line.split(";", 1)[0] as string);
      const { statusCode: status, headers } = response;
      resolve({ status, location: headers.location, cookie: cookies.join("; "), text: await readText(response) });
    },
  );
  sending.on("error", reject).end(form);
  return promise;
}

suite("the entry of an app store", {
  ...needsAll(needsContainers(), { skip: binaryIsMissing() }),
  concurrency: 3,
}, () => {
  const scratch = mkdtempSync(join(tmpdir(), "authserve-stores-"));
  const podman = new Podman();
  before(async () => {
    const source = { target: ownTarget(), executable: BINARY };
    const [archive = ""] = buildImage([source], { output: scratch, scratch, commit: "0".repeat(40), time: TIME });
    await podman.ok("load", "--input", join(scratch, archive));
  });
  after(async () => {
    await podman[Symbol.asyncDispose]();
    rmSync(scratch, { recursive: true, force: true });
  });

  for (const [name, { file, entry: entryOf, variables = {}, answers = {}, owner }] of Object.entries(STORES)) {
    test(`of ${name} starts a server with a login, pages and webhooks`, async () => {
      const entry = entryOf(read(file));
      const set = Object.entries(entry.environment).map(([key, value]) => [key, interpolated(value, variables)]);
      const environment: Record<string, string> = { ...Object.fromEntries(set), ...answers };
      assert.equal(entry.port, 3000);
      const port = await freePort();
      const source = interpolated(entry.volume[0], variables);
      const folder = owner ? join(scratch, source) : source;
      if (owner) {
        mkdirSync(folder, { recursive: true });
        chownSync(folder, ...owner);
      }
      // The network of this machine stands in for the mapping of the port.
      const own = { ...environment, HOST: "127.0.0.1", PORT: String(port) };
      await podman.ok(
        ...Podman.runOpen,
        ...["--detach", "--name", name, "--volume", `${folder}:${entry.volume[1]}`],
        ...(entry.user === undefined ? [] : ["--user", entry.user]),
        ...entry.capDrop.flatMap((capability) => ["--cap-drop", capability]),
        ...Object.entries(own).flatMap(([variable, value]) => ["--env", `${variable}=${value}`]),
        ...["--health-cmd", JSON.stringify(entry.health.slice(1))],
        entry.image,
        ...entry.command,
      );
      await until(() => podman.run("healthcheck", "run", name).then(({ code }) => code === 0));

      const address = environment.PUBLIC_URL ?? "";
      const login = await visit(address, port, "/login");
      assert.match(login.text, /<form/);
      const { DEMO_EMAIL: email = "", INITIAL_PASSWORD: password = "" } = environment;
      const form = new URLSearchParams({ email, password }).toString();
      const { status, cookie, text } = await visit(address, port, "/login", { form });
      assert.equal(status, 303, text);
      assert.equal((await visit(address, port, "/admin/", { cookie })).status, 200);
      assert.equal((await visit(address, port, "/auth/verify", { cookie })).status, 200);

      const command = (...args: string[]) => podman.ok("exec", name, "authserve", ...args);
      const { received, eventId } = JSON.parse(await command("events", "send-test"));
      assert.equal(received, true);
      assert.match(await command("events", "list"), new RegExp(eventId));
      await podman.ok("rm", "--force", "--time", "0", name);
    });
  }
});

suite("the files of app stores", needsReleasePackages(), () => {
  test("are valid by the schema of Compose", async () => {
    const { default: schema } = await import(join(PACKAGES, "dclint/schemas/compose.schema.json"), {
      with: { type: "json" },
    });
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
    const isValid = ajv.compile({ ...schema, $schema: "http://json-schema.org/draft-07/schema#" });
    for (const { file } of Object.values(STORES).filter(({ file }) => !file.endsWith(".xml")))
      assert.ok(isValid(parse(read(file), { version: "1.1" })), `${file} ${JSON.stringify(isValid.errors)}`);
  });

  test("set settings that exist, and are the same when they are made again", () => {
    for (const { file, entry } of Object.values(STORES)) {
      const names = Object.keys(entry(read(file)).environment).filter((name) => !name.startsWith("SERVICE_"));
      assert.ok(names.length >= 5);
      assert.deepEqual(
        names.filter((name) => !isSettingName(name)),
        [],
        file,
      );
    }
    assert.deepEqual(storeFiles({ image: IMAGE, version: packageJson.version, time: TIME * 1000 }), FILES);
  });

  // https://github.com/runtipi/runtipi-appstore, apps/__tests__/apps.test.ts
  test("of Runtipi are valid by its own schemas", async () => {
    const { appInfoSchema, dynamicComposeSchemaYaml } = await import(
      join(PACKAGES, "@runtipi/common/dist/schemas/index.js")
    );
    const { $schema, ...config } = JSON.parse(read("runtipi/authserve/config.json"));
    assert.deepEqual(appInfoSchema({ ...config, urn: "authserve:store" }).summary, undefined);
    assert.deepEqual(dynamicComposeSchemaYaml(parse(read("runtipi/authserve/docker-compose.yml"))).summary, undefined);
    assert.ok(read("runtipi/authserve/docker-compose.yml").includes(`:${config.version}\n`));
    assert.ok(FILES["runtipi/authserve/metadata/logo.jpg"]);
    assert.ok(FILES["runtipi/authserve/metadata/description.md"]);
  });

  // https://github.com/IceWhaleTech/CasaOS-AppStore, .github/actions/validate-compose and docs/specs/compose-and-x-casaos.md
  test("of CasaOS keep its rules", () => {
    const compose = parse(read("casaos/Authserve/docker-compose.yml"));
    const { id, main, port_map, category, title } = compose["x-casaos"];
    assert.match(compose.name, /^[a-z0-9_-]+$/);
    assert.match(id, /^[a-z0-9]+(?:[._-][a-z0-9]+)*(?:\.[a-z0-9]+(?:[._-][a-z0-9]+)*)+$/);
    assert.equal(compose.services[main].ports[0].published, port_map);
    assert.ok(
      ["Media", "Productivity", "Home", "Networking", "AI", "Finance", "Social", "Developer", "Others"].includes(
        category,
      ),
    );
    assert.equal(typeof title.en_US, "string");
  });

  // https://github.com/getumbrel/umbrel-apps, .tools/lint-apps.mjs. The digest of the image comes from the registry.
  test("of Umbrel have the fields that its linter demands", () => {
    const manifest = parse(read("umbrel/authserve/umbrel-app.yml"));
    const texts = [
      "id",
      "category",
      "name",
      "version",
      "tagline",
      "description",
      "developer",
      "website",
      "repo",
      "support",
    ];
    for (const field of [...texts, "submitter", "submission"])
      assert.ok(typeof manifest[field] === "string" && manifest[field], field);
    assert.deepEqual(
      [manifest.id, manifest.manifestVersion, manifest.releaseNotes, manifest.gallery],
      ["authserve", 1, "", []],
    );
    const { app_proxy, server } = parse(read("umbrel/authserve/docker-compose.yml")).services;
    assert.equal(app_proxy.environment.APP_HOST, `${manifest.id}_server_1`);
    assert.deepEqual([server.restart, server.ports, server.container_name], ["on-failure", undefined, undefined]);
    assert.ok("umbrel/authserve/data/.gitkeep" in FILES);
  });

  // https://github.com/coollabsio/coolify, app/Console/Commands/Generate/Services.php
  test("of Coolify have its header", () => {
    const header = Object.fromEntries(
      Array.from(read("coolify/authserve.yaml").matchAll(/^# (\w+): (.*)$/gm), ([, key, value]) => [key, value]),
    );
    assert.deepEqual(Object.keys(header), ["documentation", "slogan", "category", "tags", "logo", "port"]);
    assert.ok(`coolify/${header.logo.slice("svgs/".length)}` in FILES);
  });

  // https://wiki.unraid.net/DockerTemplateSchema
  test("of Unraid have elements and types that it knows", () => {
    const xml = read("unraid/authserve.xml");
    const known =
      "Name Repository Network Privileged Support Project Overview Category WebUI Icon Screenshot ExtraParams PostArgs Config Container";
    const elements = Array.from(xml.matchAll(/<(\w+)[ >]/g), ([, element]) => element);
    assert.deepEqual(
      elements.filter((element) => !known.split(" ").includes(String(element))),
      [],
    );
    const types = Array.from(xml.matchAll(/ Type="(\w+)"/g), ([, type]) => type);
    assert.deepEqual([...new Set(types)].sort(), ["Path", "Port", "Variable"]);
  });
});
