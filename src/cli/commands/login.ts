import { type Command, Option } from "commander";
import { SCOPE_NAMES } from "../../auth/machine-tokens/scopes.ts";
import { addClientCommands } from "./clients.ts";
import { addPeopleCommands } from "./people.ts";
import { remoteOptions } from "./remote-options.ts";

const OF_PERSON = ["--person <name>", "Of this person of the file (default: that of DEMO_EMAIL)"] as const;

/** Adds the commands of sessions, failed logins, tokens, second factors, people and apps. */
export function addLoginCommands(program: Command): void {
  const session = program.command("session").description("Show or end the active session");
  remoteOptions(
    session
      .command("show [person]")
      .description("Show the active session of a person, by id or name")
      .option("--json", "Print a JSON object"),
  ).action(async (person, options) => (await import("../session.ts")).runSessionShow(person, options));
  session
    .command("revoke [person]")
    .description("End the active session of a person, by id or name")
    .option("--json", "Print a JSON object")
    .action(async (person, options) => (await import("../session.ts")).runSessionRevoke(person, options));

  addPeopleCommands(program);

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

  const access = program.command("access").description("Explain and show who passes forward-auth");
  access
    .command("log")
    .description("Show the last answers of forward-auth, if ACCESS_LOG is on")
    .addOption(new Option("--decision <decision>", "Only these").choices(["allowed", "denied", "login"]))
    .option("--host <host>", "Only requests for this host")
    .option("--since <time>", "Only since this time: 1h, 7d, or ISO 8601 (UTC by default)")
    .option("--limit <count>", "Maximum number of answers", "50")
    .option("--follow", "Keep printing new ones")
    .option("--utc", "Show exact times instead of relative ones")
    .option("--json", "Print a JSON array, or with --follow one JSON object per line")
    .action(async (options) => (await import("../access-log.ts")).runAccessLog(options));
  access
    .command("explain <url>")
    .description(
      "Show which entry of access decides for a request, by default without a session, and exit 1 unless it passes",
    )
    .option("--method <method>", "Method of the request", "GET")
    .option("--from <address>", "Address of the client (default: unknown)")
    .option("--token <name>", "With this token")
    .option("--person <name>", "With a session of this person")
    .option("--json", "Print a JSON object")
    .action(async (url, options) => (await import("../access.ts")).runAccessExplain(url, options));

  const tokens = program.command("tokens").description("Create, list and revoke tokens for programs");
  tokens
    .command("create <name>")
    .description("Create a token for a program, and print it this once. That of a person is called PERSON/NAME")
    .requiredOption("--scope <scope...>", `What it may do: ${SCOPE_NAMES}`)
    .option("--expires <duration>", "For how long it is valid, or never", "90d")
    .action(async (name, options) => (await import("../tokens.ts")).runTokensCreate(name, options));
  remoteOptions(
    tokens
      .command("list")
      .description("List the tokens, without their values")
      .option("--utc", "Show exact times instead of relative ones")
      .option("--json", "Print a JSON array"),
  ).action(async (options) => (await import("../tokens.ts")).runTokensList(options));
  remoteOptions(
    tokens
      .command("revoke [names...]")
      .description("Revoke tokens, which are refused from then on")
      .option("--all", "Revoke all tokens")
      .option("--json", "Print a JSON object"),
  ).action(async (names, options) => (await import("../tokens.ts")).runTokensRevoke(names, options));

  const factors = program.command("factors").description("Show, add and remove second factors of the login");
  factors
    .command("list")
    .description("List the second factors, and how many recovery codes are left")
    .option(...OF_PERSON)
    .option("--utc", "Show exact times instead of relative ones")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../factors.ts")).runFactorsList(options));
  factors
    .command("remove [ids...]")
    .description("Remove second factors, e.g. of a key that was lost")
    .option(...OF_PERSON)
    .option("--all", "Remove all: the password is enough from then on")
    .option("--json", "Print a JSON object")
    .action(async (ids, options) => (await import("../factors.ts")).runFactorsRemove(ids, options));
  factors
    .command("recovery-codes")
    .description("Make new recovery codes, and print them this once")
    .option(...OF_PERSON)
    .option("--json", "Print a JSON array")
    .action(async (options) => (await import("../factors.ts")).runFactorsRecoveryCodes(options));
  factors
    .command("add-totp")
    .description("Add an authenticator app, once it has shown a right code")
    .option(...OF_PERSON)
    .option("--name <name>", "What to call it")
    .option("--unconfirmed", "Add it without a code from the app")
    .option("--json", "Print a JSON object")
    .action(async (options) => (await import("../factors.ts")).runFactorsAddTotp(options));

  addClientCommands(program);
}
