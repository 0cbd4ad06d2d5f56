import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isEmail } from "../auth/user.ts";
import { SERVICE_FOLDER } from "../config/service.ts";
import { OperatorError, systemCode } from "../errors.ts";
import { replaceFile } from "../lib/files.ts";
import { newPasswordHash } from "./hash-password.ts";
import { say } from "./output.ts";
import { ask } from "./prompt.ts";
import { SERVICE_CONFIGURATION, SERVICE_SETTINGS } from "./service-files.ts";

const USER = "authserve";
const HOME = "/var/lib/authserve";

/** Asks for what only the operator knows. Each is called only if it is missing. */
interface Answers {
  email(): Promise<string>;
  passwordHash(): Promise<string>;
}

/** Completes the settings of the service on this machine, and starts it. Nothing that exists is replaced. */
export async function runInitSystem({ email }: { email?: string | undefined }): Promise<void> {
  if (process.platform !== "linux") {
    throw new OperatorError({ found: "--system is for Linux only", remedy: "use init without it" });
  }
  if (process.getuid?.() !== 0) {
    throw new OperatorError({ found: "--system needs root", remedy: "run the same command with sudo" }, 1);
  }
  const written = await completeFolder(SERVICE_FOLDER, {
    email: async () => email ?? (await askEmail()),
    passwordHash: () => newPasswordHash(),
  });
  for (const name of written) say(`Wrote ${join(SERVICE_FOLDER, name)}`);
  if (written.length === 0) say(`Nothing is missing in ${SERVICE_FOLDER}.`);
  createUser();
  start();
  say(`The secret for senders of webhooks is in ${join(SERVICE_FOLDER, "webhook_secret")}.`);
}

/** Writes the files of the service that are missing in a folder, and returns their names. Asks before it writes. */
export async function completeFolder(folder: string, answers: Answers): Promise<string[]> {
  const isMissing = (name: string) => !existsSync(join(folder, name));
  const settings = isMissing("authserve.conf")
    ? SERVICE_SETTINGS
    : readFileSync(join(folder, "authserve.conf"), "utf8");
  const email = hasEmail(settings) ? null : await answers.email();
  if (email !== null && !isEmail(email)) {
    throw new OperatorError({ found: "This is not an e-mail address", remedy: "give one such as you@example.com" });
  }
  const hash = isMissing("demo_password") ? await answers.passwordHash() : null;
  try {
    if (!existsSync(folder)) {
      mkdirSync(folder, { recursive: true });
      // The service reads authserve.yaml. Secrets are readable for root only.
      chmodSync(folder, 0o755);
    }
    const written: string[] = [];
    const write = (name: string, content: string, mode = 0o600) => {
      replaceFile(join(folder, name), content, { mode, flush: true });
      // The umask may be stricter.
      chmodSync(join(folder, name), mode);
      written.push(name);
    };
    const isNamed = settings.includes(join(SERVICE_FOLDER, "authserve.yaml"));
    if (isNamed && isMissing("authserve.yaml")) write("authserve.yaml", SERVICE_CONFIGURATION, 0o644);
    if (isMissing("jwt_secret")) write("jwt_secret", randomBytes(48).toString("base64url"));
    if (isMissing("webhook_secret")) write("webhook_secret", randomBytes(32).toString("base64url"));
    if (hash !== null) write("demo_password", `${hash}\n`);
    if (email !== null) write("authserve.conf", withEmail(settings, email));
    return written;
  } catch (error) {
    const remedy = "solve this, then run the command again";
    throw new OperatorError({ found: `${folder} cannot be written (${systemCode(error)})`, remedy }, 1);
  }
}

const hasEmail = (settings: string) => /^[ \t]*DEMO_EMAIL[ \t]*=[ \t]*\S/m.test(settings);

/** The settings with the e-mail, in the place of the first line that names it. */
function withEmail(settings: string, email: string): string {
  const line = `DEMO_EMAIL="${email.replace(/["\\]/g, "\\$&")}"`;
  const place = /^[ \t]*#?[ \t]*DEMO_EMAIL[ \t]*=.*$/m;
  return place.test(settings) ? settings.replace(place, () => line) : `${settings.replace(/\n?$/, "\n")}${line}\n`;
}

function askEmail(): Promise<string> {
  if (process.stdin.isTTY) return ask("E-mail: ");
  throw new OperatorError({ found: "Without a terminal nobody can be asked", remedy: "give --email ADDRESS" });
}

/** Creates the user of the service unless it is there. Packages create it too. */
function createUser(): void {
  if (spawnSync("id", ["-u", USER], { stdio: "ignore" }).status === 0) return;
  const options = ["--system", "--user-group", "--no-create-home", "--home-dir", HOME, "--shell", "/usr/sbin/nologin"];
  const { status } = spawnSync("useradd", [...options, USER], { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) {
    const found = `The user ${USER} cannot be created`;
    throw new OperatorError({ found, remedy: "create it, then run this again" }, 1);
  }
  say(`Created the user ${USER}.`);
}

/** Enables and starts the unit. Without a running systemd, e.g. in a container, prints the command. */
function start(): void {
  const command = `systemctl enable --now ${USER}`;
  if (!existsSync("/run/systemd/system")) {
    say(`systemd does not run here. Where it does, run: ${command}`);
    return;
  }
  const systemctl = (...args: string[]) =>
    spawnSync("systemctl", args, { stdio: ["ignore", "ignore", "inherit"] }).status === 0;
  if (!systemctl("daemon-reload") || !systemctl("enable", "--now", USER)) {
    throw new OperatorError({ found: `${command} failed`, remedy: `see: journalctl -u ${USER} -n 20` }, 1);
  }
  say(`The service ${USER} runs.`);
}
