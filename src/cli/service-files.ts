/** The settings file of a new service. `init --system` and the .rpm write it. */
export const SERVICE_SETTINGS = `# Settings of the service authserve, one on a line: docs/reference/settings.md lists all.
# After a change: systemctl restart authserve

# The user. \`authserve init --system\` sets it.
#DEMO_EMAIL=you@example.com

# The proxy on this machine that serves HTTPS.
TRUSTED_PROXIES=127.0.0.1,::1

# Sources of webhooks, routes and alerts.
CONFIG_FILE=/etc/authserve/authserve.yaml

# Each event is sent to this address.
#FORWARD_URL=http://127.0.0.1:8080/events

# The public address. With it the login protects other apps.
#PUBLIC_URL=https://auth.example.com
`;

/** The configuration file of a new service, without an entry. */
export const SERVICE_CONFIGURATION = `# Sources of webhooks, routes and alerts of the service authserve: docs/reference/configuration-file.md explains them.
# A change is taken at once. Check it: service-authserve config check
#
# sources:
#   github: { preset: github, secrets: [env:GITHUB_SECRET] }
#
# GITHUB_SECRET=... is then in authserve.conf.
`;
