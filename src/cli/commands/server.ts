import type { Command } from "commander";

/** Adds the commands that create a server and run it. */
export function addServerCommands(program: Command): void {
  program
    .command("serve")
    .description("Start the server and run until SIGTERM or SIGINT")
    .option("--init", "Create .env if it is missing, and print commands to try")
    .action(async (options) => (await import("../serve.ts")).runServe(options));
  program
    .command("init")
    .description("Create .env with new secrets and a user, and print the password once. Or set up the system's service")
    .option("--email <address>", "E-mail of the user", "demo@example.com")
    .option("--system", "Ask for e-mail and password, complete /etc/authserve, and start the service")
    .option("--json", "Print a JSON object")
    .action(async ({ system, ...options }, command: Command) => {
      if (!system) return (await import("../init.ts")).runInit(options);
      const isGiven = command.getOptionValueSource("email") === "cli";
      return (await import("../init-system.ts")).runInitSystem({ email: isGiven ? options.email : undefined });
    });
  program
    .command("hash-password")
    .description("Hash a password, from a prompt or standard input")
    .option("--allow-weak", "Accept a short or common password")
    .option("--calibrate <duration>", "Choose the cost so that one hash takes about this long here, e.g. 250ms")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../hash-password.ts")).runHashPassword(options));
  program
    .command("passwd [person]")
    .description("Change the password in .env, or print the line to set. Or change that of a person of the file")
    .option("--allow-weak", "Accept a short or common password")
    .action(async (person, options) => (await import("../passwd.ts")).runPasswd(person, options));
}
