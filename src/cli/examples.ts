/** Command lines to copy, with what each does, by the path of their command. */
export const EXAMPLES: Record<string, readonly (readonly [commandLine: string, what: string])[]> = {
  serve: [
    ["authserve serve --init", "write .env when it is missing, and serve"],
    ["PORT=8080 authserve serve", "serve on another port"],
  ],
  init: [["authserve init --email me@example.com", "write .env for this user"]],
  "hash-password": [
    ["authserve hash-password", "ask for a password, and print its hash"],
    ["authserve hash-password <password.txt", "read the password from a file"],
  ],
  passwd: [["authserve passwd", "ask for a new password, and put its hash into .env"]],
  "events list": [
    ["authserve events list --status failed --since 1d", "what failed since yesterday"],
    ["authserve events list --error timeout --limit 10", "the newest whose last error says timeout"],
    ["authserve events list --follow", "events as they come"],
    ["authserve events list --json | jq -r '.[].eventId'", "ids for a program"],
  ],
  "events show": [["authserve events show evt_123", "one event with its attempts and its payload"]],
  "events replay": [
    ["authserve events replay evt_123", "queue one failed event again"],
    ["authserve events replay --dead-letter", "queue every failed event again"],
    ["authserve events replay evt_123 --force", "run a processed event again: its effects happen again"],
  ],
  "events stats": [["authserve events stats --json", "counts for a program"]],
  "events send-test": [
    ["authserve events send-test", "send a signed event to the running server"],
    ["authserve events send-test --type order.paid --id evt_1", "with a type and an id of your own"],
  ],
  "session show": [["authserve session show", "whether the user is logged in"]],
  "session revoke": [["authserve session revoke", "log the user out"]],
  "throttle show": [["authserve throttle show --address 203.0.113.9", "the failed logins of an address"]],
  "throttle clear": [["authserve throttle clear", "let everybody try again"]],
  "token explain": [["authserve token explain <token.txt", "why a token is refused"]],
  "selftest sessions": [["authserve selftest sessions --rounds 2000", "race the session store for longer"]],
  ready: [["authserve ready --timeout 30s", "wait for the server in a script"]],
  backup: [
    ["authserve backup backup.db", "write a backup"],
    ['authserve backup --force "backup-$(date +%u).db"', "keep one for each day of the week"],
  ],
  restore: [["authserve restore backup.db", "bring a backup back, while no server runs"]],
  doctor: [["authserve doctor", "look for what is wrong"]],
  licenses: [["authserve licenses --full", "the licences word for word"]],
  completion: [["source <(authserve completion bash)", "complete commands in this shell"]],
  man: [["authserve man | man -l -", "read the manual page"]],
};

/** The examples of a command as its help shows them; empty where there are none. */
export function exampleText(path: string): string {
  const examples = EXAMPLES[path];
  if (!examples) return "";
  const lines = examples.flatMap(([commandLine, what]) => [`  # ${what}`, `  ${commandLine}`]);
  return `\nExamples:\n${lines.join("\n")}`;
}
