import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/**
 * The OpenPGP keys of repositories, in a keyring of their own. The one secret key signs, with the time of the commit.
 * So Ed25519 makes the same signature each time. Public keys beside it are those of earlier and later releases.
 */
export class OpenPgp {
  readonly #home: string;
  readonly #key: string;
  readonly #time: number;

  constructor(keyFile: string, { scratch, time }: { scratch: string; time: number }) {
    this.#home = join(scratch, "gnupg");
    this.#time = time;
    mkdirSync(this.#home, { mode: 0o700 });
    this.#gpg("--import", keyFile);
    const [key, ...more] = this.#fingerprints("sec");
    if (key === undefined || more.length > 0) throw new Error(`${keyFile} must hold one secret key`);
    this.#key = key;
  }

  /** Writes the signature of a file, or with `--clear-sign` the signed file. */
  sign(form: "--clear-sign" | "--detach-sign", file: string, output: string): void {
    this.#gpg(...this.#signing(), "--local-user", this.#key, "--armor", "--output", output, form, file);
  }

  /** Signs an .rpm. */
  signRpm(file: string): void {
    const macros = {
      __gpg: "/usr/bin/gpg",
      _gpg_name: this.#key,
      _gpg_sign_cmd_extra_args: ["--no-options", "--batch", ...this.#signing()].join(" "),
    };
    const defines = Object.entries(macros).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
    execFileSync("rpmsign", ["--addsign", ...defines, file], {
      env: { ...process.env, GNUPGHOME: this.#home },
      stdio: ["inherit", "ignore", "inherit"],
    });
  }

  /** All public keys, in the binary form. */
  keyring(): Buffer {
    return this.#gpg("--export");
  }

  /** All public keys, each in a block of its own: rpm reads only the first key of a block. */
  armoredKeys(): string {
    const blocks = this.#fingerprints("pub").map((key) => this.#gpg("--armor", "--export", key));
    return Buffer.concat(blocks).toString();
  }

  #signing(): string[] {
    return ["--faked-system-time", `${this.#time}!`, "--digest-algo", "SHA512"];
  }

  #fingerprints(kind: "sec" | "pub"): string[] {
    const list = this.#gpg("--with-colons", kind === "sec" ? "--list-secret-keys" : "--list-keys").toString();
    // The first line `fpr` below a key is its own. Those below it are of subkeys.
    return Array.from(list.matchAll(new RegExp(`^${kind}:.*\\nfpr:+(\\w+):`, "gm")), ([, key = ""]) => key);
  }

  #gpg(...args: string[]): Buffer {
    return execFileSync("gpg", ["--no-options", "--homedir", this.#home, "--batch", "--yes", "--quiet", ...args], {
      stdio: ["inherit", "pipe", "inherit"],
    });
  }
}
