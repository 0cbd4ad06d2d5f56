import { explainToken } from "../auth/explain-token.ts";
import { OperatorError } from "../errors.ts";
import { readPeople } from "./known-people.ts";
import { printJson, say } from "./output.ts";
import { askHidden, readStdin } from "./prompt.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";

/** Explains a token from a prompt or standard input. The exit code is 1 if the token is refused. */
export async function runTokenExplain({ json }: { json?: boolean }): Promise<void> {
  const input = process.stdin.isTTY ? await askHidden("Token: ") : await readStdin();
  const token = input.trim().replace(/^(?:authorization:[ \t]*)?bearer[ \t]+/i, "");
  if (token === "") {
    throw new OperatorError({ found: "Standard input has no token", remedy: "pass the text after Bearer" });
  }
  await withStores(
    async (stores) => {
      const { sessions, settings, now } = stores;
      const parts = {
        people: await readPeople(stores),
        secret: settings.JWT_SECRET,
        previousSecret: settings.JWT_SECRET_PREVIOUS,
        sessions,
      };
      const explanation = await explainToken(token, parts, now());
      if (json) printJson(explanation);
      else {
        const mark = { true: "yes", false: "NO", null: "-" };
        const rows = explanation.checks.map(({ check, passed, detail }) => [check, mark[`${passed}`], detail]);
        printTable(["CHECK", "PASSED", "DETAIL"], rows);
        say(explanation.accepted ? "The token is accepted." : "The token is refused.");
      }
      if (!explanation.accepted) process.exitCode = 1;
    },
    ["JWT_SECRET", "JWT_SECRET_PREVIOUS"],
  );
}
