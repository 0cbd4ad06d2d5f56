import { explainAuthorization, judgeAuthorization, readAuthorization } from "../auth/clients/authorization-request.ts";
import { OperatorError } from "../errors.ts";
import { readClients } from "./configured.ts";
import { remedyForName } from "./option-values.ts";
import { printJson, say } from "./output.ts";
import { printTable } from "./table.ts";

/** Explains an authorization request of a client by its URL. The exit code is 1 unless it passes all checks. */
export function runClientsExplain(name: string, url: string, { json }: { json?: boolean }): void {
  const clients = readClients();
  const client = clients.find((one) => one.name === name);
  if (client === undefined) {
    const names = clients.map((one) => one.name);
    throw new OperatorError({
      found: `There is no client ${name}`,
      remedy: remedyForName(name, names, "authserve clients list"),
    });
  }
  const query = /\?([^#]*)/.exec(url)?.[1];
  if (query === undefined)
    throw new OperatorError({
      found: "The URL has no query",
      remedy: "give the whole address in quotes, as the browser shows it at the login",
    });
  const sent = readAuthorization(query);
  const checks = explainAuthorization(sent, [client]);
  const judged = judgeAuthorization(sent, [client]);
  const error = judged.to === "redirect-error" ? judged.error : null;
  if (json) printJson({ accepted: judged.to === "ok", error, checks });
  else {
    printTable(
      ["CHECK", "PASSED", "DETAIL"],
      checks.map(({ check, ok, detail }) => [check, ok ? "yes" : "NO", detail]),
    );
    say(`${[ANSWERS[judged.to], ...(error === null ? [] : [error])].join(": ")}.`);
  }
  if (judged.to !== "ok") process.exitCode = 1;
}

const ANSWERS = {
  ok: "The request would be accepted",
  "refuse-here": "The server would show the fault, and lead back to no app",
  "redirect-error": "The app would be told the error",
};
