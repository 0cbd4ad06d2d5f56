import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import packageJson from "../../package.json" with { type: "json" };
import { ownTarget, TARGETS } from "../../scripts/build/targets.ts";
import { buildImage, type ImageSource } from "../../scripts/release/image.ts";
import { needsAll } from "../helpers/back-end.ts";
import { BINARY, binaryIsMissing } from "../helpers/binary.ts";
import { deliver, event, logIn, me } from "../helpers/client.ts";
import { WEBHOOK_SECRET } from "../helpers/credentials.ts";
import { freePort } from "../helpers/ports.ts";
import { until } from "../helpers/until.ts";
import { needsContainers, Podman } from "./podman.ts";

const IMAGE = `localhost/authserve:${packageJson.version}`;
const MEGABYTE = 1_000_000;
const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const DATA = ["--volume", "data:/var/lib/authserve"];

const own: ImageSource = { target: ownTarget(), executable: BINARY };
const [other] = TARGETS.filter(({ name }) => name !== own.target.name);
const architecture = (source: ImageSource) => (source.target.cpu === "x64" ? "amd64" : "arm64");

suite("the image", needsAll(needsContainers(), { skip: binaryIsMissing() }), () => {
  const scratch = mkdtempSync(join(tmpdir(), "authserve-image-"));
  after(() => rmSync(scratch, { recursive: true, force: true }));
  const build = (sources: ImageSource[]) => {
    const output = mkdtempSync(join(scratch, "dist-"));
    return { output, files: buildImage(sources, { output, scratch, commit: COMMIT, time: 1_700_000_000 }) };
  };
  const placeholder = join(scratch, "placeholder");
  writeFileSync(placeholder, "no executable");
  // Only the image of this machine's processor can run here, so the other one needs no executable.
  const first = build([own, { target: other as ImageSource["target"], executable: placeholder }]);
  const archive = join(first.output, `authserve-${packageJson.version}-image-${architecture(own)}.tar`);
  const registry = `oci-archive:${join(first.output, `authserve-${packageJson.version}-image-oci.tar`)}`;

  const podman = new Podman();
  before(() => podman.ok("load", "--input", archive));
  after(() => podman[Symbol.asyncDispose]());

  test("has at most 150 MB, a user without rights, a health check and no shell", async () => {
    const [image] = JSON.parse(await podman.ok("image", "inspect", IMAGE));
    assert.ok(image.Size <= 150 * MEGABYTE, `${image.Size} bytes`);
    assert.equal(image.User, "65532:65532");
    assert.deepEqual(image.Healthcheck.Test, ["CMD", "/usr/local/bin/authserve", "ready"]);
    assert.equal(image.Labels["org.opencontainers.image.version"], packageJson.version);
    assert.equal(image.Labels["org.opencontainers.image.revision"], COMMIT);
    await podman.ok("create", "--name", "files", IMAGE);
    await podman.ok("export", "--output", join(scratch, "files.tar"), "files");
    const files = execFileSync("tar", ["-tf", join(scratch, "files.tar")], { encoding: "utf8" }).split("\n");
    assert.ok(files.includes("etc/ssl/certs/ca-certificates.crt"));
    assert.ok(files.includes("usr/share/zoneinfo/Europe/Berlin"));
    assert.deepEqual(programsIn(files), ["usr/local/bin/authserve"]);
  });

  test("serves after `init` with a read-only root, and keeps its data over a restart and a kill", async () => {
    const port = await freePort();
    const server = { url: `http://127.0.0.1:${port}` };
    const { password } = JSON.parse(await podman.ok(...Podman.run, "--rm", ...DATA, IMAGE, "init", "--json"));
    const environment = ["HOST=127.0.0.1", `PORT=${port}`, `WEBHOOK_SECRET=${WEBHOOK_SECRET}`];
    const variables = environment.flatMap((variable) => ["--env", variable]);
    await podman.ok(...Podman.run, "--detach", "--name", "server", ...DATA, ...variables, IMAGE);
    const isHealthy = () => podman.run("healthcheck", "run", "server").then(({ code }) => code === 0);
    const statusOf = async (id: string) => {
      const { stdout } = await podman.run("exec", "server", "authserve", "events", "show", id, "--json");
      return stdout && JSON.parse(stdout).status;
    };

    await until(isHealthy);
    const token = await logIn(server, { email: "demo@example.com", password });
    assert.equal((await deliver(server, event("evt_restart"))).json.duplicate, false);
    await until(async () => (await statusOf("evt_restart")) === "processed");

    await podman.ok("stop", "--time", "20", "server");
    assert.equal(await podman.ok("inspect", "--format", "{{.State.ExitCode}}", "server"), "0");
    await podman.ok("start", "server");
    await until(isHealthy);
    assert.equal((await me(server, token)).status, 200);
    assert.equal((await deliver(server, event("evt_restart"))).json.duplicate, true);

    assert.equal((await deliver(server, event("evt_kill"))).json.duplicate, false);
    await podman.ok("kill", "--signal", "KILL", "server");
    await podman.ok("wait", "server");
    await podman.ok("start", "server");
    await until(isHealthy);
    assert.equal((await deliver(server, event("evt_kill"))).json.duplicate, true);
    await until(async () => (await statusOf("evt_kill")) === "processed");
    assert.match(await podman.ok("exec", "server", "authserve", "doctor"), /add-ons +\/usr\/lib\/authserve\/addons/);
  });

  test("runs commands where nothing can be written", async () => {
    const readOnly = ["--interactive", "--rm", "--tmpfs", "/var/lib/authserve:ro"];
    const { stdout, stderr } = await podman.runWith(
      "correct horse battery",
      ...Podman.run,
      ...readOnly,
      IMAGE,
      "hash-password",
    );
    assert.match(stdout, /^\$argon2id\$/, stderr);
  });

  test("runs as another user, who needs nothing but DATA_DIR", async () => {
    const folder = join(scratch, "data");
    mkdirSync(folder);
    chownSync(folder, 1234, 1234);
    const asOther = ["--interactive", "--rm", "--user", "1234:1234", "--volume", `${folder}:/var/lib/authserve`];
    const { stdout, stderr } = await podman.runWith(
      "correct horse battery",
      ...Podman.run,
      ...asOther,
      IMAGE,
      "hash-password",
    );
    assert.match(stdout, /^\$argon2id\$/, stderr);
  });

  test("is there for both processors in the archive for registries", () => {
    const inspect = (...args: string[]) =>
      JSON.parse(execFileSync("skopeo", ["inspect", ...args, registry], { encoding: "utf8" }));
    const { manifests } = inspect("--raw") as { manifests: { platform: { os: string; architecture: string } }[] };
    assert.deepEqual(manifests.map(({ platform }) => `${platform.os}/${platform.architecture}`).sort(), [
      "linux/amd64",
      "linux/arm64",
    ]);
  });

  test("is the same when it is built again", () => {
    const digest = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
    const again = build([own]);
    const [file = ""] = again.files;
    assert.equal(digest(join(again.output, file)), digest(archive));
  });
});

/** The files where programs are, and names of shells anywhere. */
function programsIn(files: string[]): string[] {
  return files.filter((file) => /(?:^|\/)(?:s?bin\/.|(?:ba|da)?sh$|busybox$)/.test(file));
}
