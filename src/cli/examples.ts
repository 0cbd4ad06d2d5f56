/** Example command lines by command, each with what it does. */
export const EXAMPLES: Record<string, readonly (readonly [commandLine: string, what: string])[]> = {
  "": [
    ["authserve serve --init", "Start for the first time: create .env, and serve"],
    ["sudo authserve init --system", "Or set up the service of an installed package"],
  ],
  serve: [
    ["authserve serve --init", "Create .env if it is missing, and serve"],
    ["PORT=8080 authserve serve", "Serve on another port"],
  ],
  init: [
    ["authserve init --email me@example.com", "Create .env for this user"],
    ["sudo authserve init --system", "Set up the service of an installed package, and start it"],
  ],
  import: [
    ["authserve import adnanh-webhook hooks.json", "Show what becomes of the hooks of adnanh/webhook"],
    ["authserve import tinyauth compose.yaml --out authserve", "Write the files for a server instead of Tinyauth"],
  ],
  "hash-password": [
    ["authserve hash-password", "Ask for a password, and print its hash"],
    ["authserve hash-password <password.txt", "Read the password from a file"],
  ],
  passwd: [
    ["authserve passwd", "Ask for a new password, and write its hash to .env"],
    ["authserve passwd ben", "Ask for a new password of ben, and end the session of ben"],
  ],
  listen: [
    ["authserve listen --forward http://localhost:3000/hook", "Send new events to a program on this machine"],
    [
      "authserve listen --forward http://localhost:3000/hook --server https://auth.example.com --token-file token.txt",
      "Send the events of another machine",
    ],
    [
      "authserve listen --forward http://localhost:3000/hook --source stripe --sign-with stripe --secret-file local.txt",
      "Sign them as Stripe does, with another secret",
    ],
    ["authserve listen --print --since 1h", "Only show the events of the last hour and later ones"],
  ],
  "events list": [
    ["authserve events list --status failed --since 1d", "List events that failed within a day"],
    [
      "authserve events list --error timeout --limit 10",
      'List the ten newest events whose last error contains "timeout"',
    ],
    ["authserve events list --route billing --status failed", "List events that the route billing could not process"],
    ["authserve events list --follow", "Print new events as they arrive"],
    ["authserve events list --search cus_123", "Find events by a part of their id, type, payload, headers or answers"],
    ["authserve events list --json | jq -r '.[].eventId'", "Print ids for a program"],
  ],
  "events show": [
    [
      "authserve events show evt_123 --server https://auth.example.com --token-file token.txt",
      "Show an event of another machine",
    ],
    ["authserve events show evt_123", "Show an event with its attempts and payload"],
  ],
  "events replay": [
    ["authserve events replay evt_123", "Queue a failed event again"],
    ["authserve events replay --dead-letter", "Queue all failed events again"],
    ["authserve events replay --route billing --error timed --rate 50/s", "Queue some again, slowly"],
    ["authserve events replay --since 1h --dry-run", "Count what would be queued again"],
    ["authserve events replay evt_123 --force", "Process an event a second time, with all its effects"],
  ],
  "events discard": [
    [
      "authserve events discard evt_123 --reason 'refunded by hand'",
      "Give up a failed event, so that later ones go on",
    ],
    ["authserve events discard --route old --status queued --reason 'route removed'", "Give up the jobs of a route"],
  ],
  "audit list": [["authserve audit list --limit 200", "See who has changed what"]],
  "audit verify": [["authserve audit verify", "Check that no row was changed, removed, moved or inserted"]],
  "events erase": [
    [
      "authserve events erase --search maria@example.com --reason 'request 12' --dry-run",
      "Show what an erasure would take",
    ],
    [
      "authserve events erase --search maria@example.com --reason 'request 12' --json >receipt.json",
      "Erase it, and keep the receipt",
    ],
  ],
  "events prune": [["authserve events prune --dry-run", "Count what retention would remove now"]],
  "events stats": [
    ["authserve events stats --since 1h", "See what came and what failed in the last hour"],
    ["authserve events stats --since 30d --json", "Print counts by the hour for a program"],
  ],
  "events held": [["authserve events held --source shop", "See which deliveries were refused for their signature"]],
  "events held show": [
    ["authserve events held show 17", "See one of them"],
    ["authserve events held show 17 --raw >request.txt", "Keep the request for sources explain"],
  ],
  "events reverify": [
    ["authserve events reverify --source shop --dry-run", "Count what the corrected secret would admit"],
    ["authserve events reverify --source shop --since 2h", "Admit what came in the last two hours"],
  ],
  "alerts list": [["authserve alerts list --all", "See what fires, and what fired in the last week"]],
  "alerts silence": [
    [
      "authserve alerts silence AuthserveSourceSilent --label source=shop --for 8h",
      "Let a source be silent for a while",
    ],
    ["authserve alerts silence --for 30m --reason upgrade", "Send nothing during an upgrade"],
    ["authserve alerts silence --off", "End all silences"],
  ],
  "alerts test": [["authserve alerts test", "See whether messages arrive"]],
  "events send-test": [
    ["authserve events send-test", "Send a signed event to the running server"],
    ["authserve events send-test --type order.paid --id evt_1", "Choose its type and id"],
  ],
  "config check": [
    ["authserve config check", "Check the file before the server takes it up"],
    ["authserve config check new.yaml", "Check another file"],
  ],
  "config schema": [["authserve config schema >authserve.schema.json", "Let an editor complete and check the file"]],
  "upgrade check": [["authserve upgrade check", "Run the new version's, before its first start"]],
  nodes: [["authserve nodes", "See which servers are alive, since when, and their versions"]],
  "routes list": [["authserve routes list", "See which route has queued or failed jobs"]],
  "routes pause": [
    ["authserve routes pause billing", "Let the events of the route billing wait, e.g. during an upgrade"],
    ["authserve routes pause billing --for 2h", "Let them wait for two hours"],
  ],
  "routes shadow": [
    ["authserve routes shadow", "See how many answers of each shadow are the same"],
    ["authserve routes shadow billing-next", "See for which events its answers differ, and where"],
  ],
  "routes test": [
    ["authserve routes test billing --since 7d --config new.yaml", "Try a changed file on the events of a week"],
    ["authserve routes test --event evt_1", "See which routes take an event, why not, and what they send"],
  ],
  "routes try": [
    ["authserve routes try billing", "Ask a target again that was unavailable, without waiting for the next time"],
  ],
  "routes resume": [["authserve routes resume billing", "Process the events that waited"]],
  "sources list": [["authserve sources list", "See which secret each source used last"]],
  "sources presets": [
    ["authserve sources presets", "Look up the name of a provider"],
    ["authserve sources presets shopify", "See what makes a duplicate of its events, and why"],
    ["authserve sources presets --json | jq -r '.[] | select(.evidence == \"sdk\").name'", "Filter by evidence"],
  ],
  "sources explain": [
    ["authserve sources explain shop <request.txt", "Find out why a delivery is refused"],
    [
      "authserve sources explain shop --at 2026-11-24T08:00:00Z --url https://hooks.example.com/shop <request.txt",
      "Check it as of its time, at the URL that the sender used",
    ],
    ["authserve sources explain --held 17", "Find out why a held delivery was refused"],
  ],
  "sources capture": [
    ["authserve sources capture shop", "Keep the next request of a sender that is refused"],
    ["authserve sources capture shop --count 5 --for 1h --out requests", "Keep five, in another folder"],
  ],
  send: [
    ["authserve send --source stripe", "Send a signed sample to the running server"],
    [
      "authserve send --preset github --secret-file secret.txt --type push --to https://example.com/hook",
      "Send elsewhere",
    ],
    ["authserve send --source stripe --count 1000 --rate 50/s", "Make some load"],
  ],
  "session show": [["authserve session show", "Check whether the user is logged in"]],
  "session revoke": [
    ["authserve session revoke", "Log the user out"],
    ["authserve session revoke ben", "Log ben out"],
  ],
  "people list": [["authserve people list", "See who can log in, and who is logged in"]],
  "throttle show": [["authserve throttle show --address 203.0.113.9", "Show the failed logins of an address"]],
  "throttle clear": [["authserve throttle clear", "Let everybody log in again"]],
  "throttle forget-browsers": [["authserve throttle forget-browsers", "A laptop was lost"]],
  "token explain": [["authserve token explain <token.txt", "Find out why a token is refused"]],
  "factors list": [["authserve factors list", "See what a login needs besides the password"]],
  "factors remove": [
    ["authserve factors remove 1f0c2a4b6d8e9f01", "A key was lost"],
    ["authserve factors remove --all", "Everything was lost: log in with the password alone"],
    ["authserve factors remove --all --person ben", "The same for ben"],
  ],
  "factors recovery-codes": [["authserve factors recovery-codes", "Make ten new codes, after most were used"]],
  "factors add-totp": [
    ["authserve factors add-totp --name phone", "Ask for the codes of an app from now on"],
    [
      "authserve factors add-totp --unconfirmed --json >totp.json",
      "Add the app of a script, which tries the code later",
    ],
  ],
  "people invite": [
    ["authserve people invite ben", "Let ben choose how to log in, with a link that works for an hour"],
  ],
  "tokens create": [
    ["authserve tokens create backup --scope verify:dav.example.com >token.txt", "Let a program pass to one host"],
    ["authserve tokens create ben/phone --scope verify >token.txt", "Let a program of ben pass as ben"],
    ["authserve tokens create grafana --scope events:read metrics --expires never", "Let a program read"],
  ],
  "tokens list": [["authserve tokens list", "See which tokens there are, and when each one was used"]],
  "tokens revoke": [
    ["authserve tokens revoke backup", "Refuse a token from now on"],
    ["authserve tokens revoke --all", "A machine with tokens was lost"],
    ["authserve tokens revoke backup --server https://auth.example.com --token-file token.txt", "Refuse it from here"],
  ],
  "keys list": [["authserve keys list", "See which key signs tokens for apps, and since when"]],
  "keys rotate": [
    ["authserve keys rotate", "Make the next key, which signs after two hours"],
    ["authserve keys rotate --at-once", "The key of ENCRYPTION_KEYS that could decrypt it is lost"],
  ],
  "access log": [
    ["authserve access log --decision denied --since 1d", "See who was not let through today"],
    ["authserve access log --follow --host dav.example.com", "Watch a program that cannot get in"],
  ],
  "access explain": [
    ["authserve access explain https://app.example.com/public/logo.png", "See whether it passes without a login"],
    [
      "authserve access explain https://dav.example.com/ --method PROPFIND --token backup --from 192.0.2.7",
      "See what a program gets",
    ],
    ["authserve access explain https://photos.example.com/ --person ben", "See whether ben passes"],
  ],
  "clients list": [["authserve clients list", "See which apps log in here, and which of them end at once"]],
  "clients retry": [["authserve clients retry immich", "After Immich is back, tell it which sessions have ended"]],
  "clients presets": [
    ["authserve clients presets", "Look up the name of an app"],
    ["authserve clients presets immich", "See what to enter in the app, and who says so"],
  ],
  "clients explain": [
    [
      "authserve clients explain immich 'https://auth.example.com/oauth/authorize?client_id=immich'",
      "Find out why an app cannot log in, from the address in the browser",
    ],
  ],
  "selftest sessions": [["authserve selftest sessions --rounds 2000", "Run more races"]],
  "selftest crash": [["authserve selftest crash --rounds 1000", "Kill more often"]],
  reload: [["authserve reload", "Use the changed file and its secrets, or see what is wrong"]],
  "sources catch-up": [["authserve sources catch-up github --since 1d --dry-run", "Count what was missed in a day"]],
  outages: [
    ["authserve outages --since 7d", "See when deliveries were missed in the last week"],
    ["authserve outages --server https://auth.example.com --token-file token.txt", "Ask a server on another machine"],
  ],
  ready: [["authserve ready --timeout 30s", "Wait for the server in a script"]],
  backup: [
    ["authserve backup backup.db", "Write a backup"],
    ['authserve backup --force "backup-$(date +%u).db"', "Keep one backup for each day of the week"],
  ],
  restore: [["authserve restore backup.db", "Restore a backup while no server runs"]],
  encrypt: [["authserve encrypt", "Encrypt what was stored before there was a key, or with an old one"]],
  migrate: [["authserve migrate --from ./data", "Copy the SQLite store in ./data to the PostgreSQL of DATABASE_URL"]],
  doctor: [["authserve doctor", "Look for problems"]],
  version: [
    ["authserve version --check authserve-1.2.3.provenance.json", "Check that this is the program of that release"],
  ],
  licenses: [["authserve licenses --full", "Print the full licence texts"]],
  completion: [["source <(authserve completion bash)", "Enable completion in this shell"]],
  docs: [
    ["authserve docs", "List the pages"],
    ["authserve docs rotate secret", "Find the sections about the rotation of a secret"],
  ],
  man: [["authserve man | man -l -", "Read the manual page"]],
};

/** The examples of a command as shown in its help; empty if there are none. */
export function exampleText(path: string): string {
  const examples = EXAMPLES[path];
  if (!examples) return "";
  const lines = examples.flatMap(([commandLine, what]) => [`  # ${what}`, `  ${commandLine}`]);
  return `\nExamples:\n${lines.join("\n")}`;
}
