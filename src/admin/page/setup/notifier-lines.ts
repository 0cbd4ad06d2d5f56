/** What a notifier is in the configuration file, and the variables with what is secret of it. */
interface NotifierLines {
  entry: string;
  env: readonly string[];
}

/** By kind, those first that need the least. Placeholders are to be replaced. */
export const NOTIFIER_LINES: Record<string, NotifierLines> = {
  ntfy: { entry: "ntfy: env:NTFY_URL", env: ["NTFY_URL='https://ntfy.sh/…'"] },
  email: {
    entry: `email:
        host: smtp.example.com
        user: me@example.com
        password: env:SMTP_PASSWORD
        from: me@example.com
        to: [me@example.com]`,
    env: ["SMTP_PASSWORD='…'"],
  },
  telegram: { entry: "telegram: 1234567890\n      token: env:TELEGRAM_TOKEN", env: ["TELEGRAM_TOKEN='…'"] },
  slack: { entry: "slack: env:SLACK_WEBHOOK_URL", env: ["SLACK_WEBHOOK_URL='…'"] },
  discord: { entry: "discord: env:DISCORD_WEBHOOK_URL", env: ["DISCORD_WEBHOOK_URL='…'"] },
  gotify: { entry: 'gotify: "https://gotify.example.com"\n      token: env:GOTIFY_TOKEN', env: ["GOTIFY_TOKEN='…'"] },
  webhook: {
    entry: 'webhook: "https://alertmanager.example.com/hook"\n      secret: env:ALERT_SECRET',
    env: ["ALERT_SECRET='…'"],
  },
  exec: { entry: "exec: [/usr/local/bin/page]", env: [] },
};

/** The lines of the configuration file, if it has no notifier yet. */
export const notifyLines = ({ entry }: NotifierLines) => `alerts:\n  notify:\n    - ${entry}`;
