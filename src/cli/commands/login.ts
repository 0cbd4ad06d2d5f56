import type { Command } from "commander";

/** Adds the commands of sessions, failed logins and tokens. */
export function addLoginCommands(program: Command): void {
  const session = program.command("session").description("Show or end the active session");
  session
    .command("show [user-id]")
    .description("Show the active session of a user")
    .option("--json", "Print a JSON object")
    .action(async (userId, options) => (await import("../session.ts")).runSessionShow(userId, options));
  session
    .command("revoke [user-id]")
    .description("End the active session of a user")
    .option("--json", "Print a JSON object")
    .action(async (userId, options) => (await import("../session.ts")).runSessionRevoke(userId, options));

  const throttle = program.command("throttle").description("Show or forget failed logins");
  throttle
    .command("show")
    .description("Show the failed logins that count now")
    .option("--address <ip>", "Show those of this address too")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../throttle.ts")).runThrottleShow(options));
  throttle
    .command("clear")
    .description("Forget failed logins")
    .option("--address <ip>", "Only those of this address")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../throttle.ts")).runThrottleClear(options));
  throttle
    .command("forget-browsers")
    .description("Let browsers that have logged in count as any other")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../throttle.ts")).runThrottleForgetBrowsers(options));

  program
    .command("token")
    .description("Explain an access token")
    .command("explain")
    .description("Show which checks a token passes, from a prompt or standard input")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../token.ts")).runTokenExplain(options));
}
