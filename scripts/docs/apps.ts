import { type AppPreset, endsOf, evidenceOfEnd } from "../../src/auth/clients/preset.ts";
import { APP_PRESET_NAMES, loadAppPreset } from "../../src/auth/clients/preset-files.ts";
import { code, codes, page, table } from "./markdown.ts";

type Named = AppPreset & { name: string };

/** The page of apps that log in through this service. */
export function appsPage(): string {
  const apps = APP_PRESET_NAMES.map((name): Named => ({ name, ...loadAppPreset(name) }));
  return page(
    "Apps",
    "What is known of each app that has a preset in `clients`. `authserve clients presets NAME` prints one, with `--json` for programs.",
    "## When their sessions end",
    "After the end of the session here, the session of an app ends at once if it takes a logout token at its back-channel address. Otherwise it goes on until it ends by itself.",
    table(
      ["preset", "app", "its session ends", "evidence"],
      apps.map((app) => [code(app.name), app.title, endsOf(app.backchannel), evidenceOf(app)]),
    ),
    `Of ${apps.length}, ${apps.filter(({ backchannel }) => backchannel).length} end at once.`,
    "## What the presets have",
    "Paths are below the `url` of the client. An app without a secret has `public: true`. The last column links to the page that says all this.",
    table(
      ["preset", "redirects", "back-channel", "secret", "PKCE", "scopes", "what it does with claims", "evidence"],
      apps.map((app) => [
        code(app.name),
        app.redirects.map((path) => (path === "" ? "`url` itself" : code(path))).join(", "),
        app.backchannel ? code(app.backchannel.path) : "",
        app.isPublic ? "no" : "yes",
        app.pkce ? "S256" : "no",
        codes(app.scopes),
        app.claims ?? "",
        `[${app.evidence}](${app.source})`,
      ]),
    ),
    "## What to enter in the app",
    "Besides the issuer, which is `PUBLIC_URL`, the client id, which is the name of the client, and its secret:",
    table(
      ["preset", "first", "second", "third"],
      apps.map(({ name, steps: [first = "", second = "", third = ""] }) => [code(name), first, second, third]),
    ),
  );
}

function evidenceOf(app: Named): string {
  const { evidence, source } = evidenceOfEnd(app);
  return source === null ? evidence : `[${evidence}](${source})`;
}
