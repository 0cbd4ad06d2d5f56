/**
 * Headers by which other products tell an app who the user or the client is, by the page that says so. Apps believe
 * them of a proxy, so the files of `deploy/` for an app let none of a client pass.
 */
export const IDENTITY_HEADERS = {
  // Go's chi sets the address of the client by the first two.
  "https://pkg.go.dev/github.com/go-chi/chi/v5/middleware#RealIP": ["X-Real-IP", "True-Client-IP"],
  "https://developers.cloudflare.com/fundamentals/reference/http-headers/": ["CF-Connecting-IP"],
  "https://www.npmjs.com/package/request-ip": ["X-Client-IP", "X-Cluster-Client-IP"],
  "https://kubernetes.io/docs/reference/access-authn-authz/authentication/#authenticating-proxy": [
    "X-Remote-User",
    "X-Remote-Group",
  ],
  // Grafana shares the first one.
  "https://docs.gitea.com/usage/authentication#reverse-proxy": [
    "X-WEBAUTH-USER",
    "X-WEBAUTH-EMAIL",
    "X-WEBAUTH-FULLNAME",
  ],
  "https://grafana.com/docs/grafana/latest/setup-grafana/configure-access/configure-authentication/auth-proxy/": [
    "X-WEBAUTH-NAME",
    "X-WEBAUTH-GROUPS",
    "X-WEBAUTH-ROLE",
  ],
  "https://docs.goauthentik.io/add-secure-apps/providers/proxy": [
    "X-Authentik-Username",
    "X-Authentik-Groups",
    "X-Authentik-Entitlements",
    "X-Authentik-Email",
    "X-Authentik-Name",
    "X-Authentik-Uid",
    "X-Authentik-Jwt",
  ],
  "https://tailscale.com/kb/1312/serve": [
    "Tailscale-User-Login",
    "Tailscale-User-Name",
    "Tailscale-User-Profile-Pic",
    "Tailscale-App-Capabilities",
  ],
  "https://oauth2-proxy.github.io/oauth2-proxy/configuration/overview": [
    "X-Auth-Request-User",
    "X-Auth-Request-Email",
    "X-Auth-Request-Groups",
    "X-Auth-Request-Preferred-Username",
    "X-Auth-Request-Access-Token",
  ],
  "https://developers.cloudflare.com/cloudflare-one/identity/authorization-cookie/validating-json/": [
    "Cf-Access-Authenticated-User-Email",
    "Cf-Access-Jwt-Assertion",
  ],
  "https://docs.authcrunch.com/docs/authorize/headers": [
    "X-Token-Subject",
    "X-Token-User-Name",
    "X-Token-User-Email",
    "X-Token-User-Roles",
  ],
  "https://cloud.google.com/iap/docs/identity-howto": [
    "X-Goog-Authenticated-User-Email",
    "X-Goog-Authenticated-User-Id",
    "X-Goog-Iap-Jwt-Assertion",
  ],
  "https://docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html": [
    "X-Amzn-Oidc-Identity",
    "X-Amzn-Oidc-Data",
    "X-Amzn-Oidc-Accesstoken",
  ],
  "https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities": [
    "X-Ms-Client-Principal",
    "X-Ms-Client-Principal-Name",
    "X-Ms-Client-Principal-Id",
    "X-Ms-Client-Principal-Idp",
  ],
  "https://www.pomerium.com/docs/capabilities/getting-users-identity": [
    "X-Pomerium-Jwt-Assertion",
    "X-Pomerium-Claim-Email",
    "X-Pomerium-Claim-User",
    "X-Pomerium-Claim-Groups",
  ],
  "https://github.com/vouch/vouch-proxy": ["X-Vouch-User", "X-Vouch-Idp-Claims-Email"],
  "https://docs.opensearch.org/latest/security/authentication-backends/proxy/": ["X-Proxy-User", "X-Proxy-Roles"],
} as const;
