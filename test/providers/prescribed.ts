import { EVENT, type Package, type Provider, seconds } from "./delivery.ts";
import { ID, type Prefix, SECRET } from "./standard.ts";

/** A provider whose documentation tells receivers to check with the package `svix` or `standardwebhooks`. */
function prescribed(
  preset: string,
  name: "svix" | "standardwebhooks",
  prefix: Prefix,
  prescribedBy: string,
  secret = SECRET,
  /** What the package is given for the secret. */
  keyOf = (key: string) => key,
): Provider {
  const webhook = (lib: Package, key: string) => new lib.Webhook(keyOf(key));
  return {
    preset,
    package: name,
    prescribedBy,
    how: "signed",
    secret,
    send: (lib, key, at) => ({
      headers: {
        [`${prefix}-id`]: ID,
        [`${prefix}-timestamp`]: seconds(at),
        [`${prefix}-signature`]: webhook(lib, key).sign(ID, new Date(at), EVENT),
      },
    }),
    accepts: (lib, { body, headers }, key) => {
      webhook(lib, key).verify(body, headers);
      return true;
    },
  };
}

/** Providers without a package that checks, whose documentation names one of somebody else. */
export const prescriptions: Provider[] = [
  prescribed("stytch", "svix", "svix", "https://stytch.com/docs/workspace-management/webhooks"),
  prescribed("vanta", "svix", "svix", "https://developer.vanta.com/docs/webhooks"),
  prescribed("incident_io", "svix", "webhook", "https://docs.incident.io/api-reference/webhooks"),
  prescribed(
    "render",
    "standardwebhooks",
    "webhook",
    "https://github.com/render-examples/webhook-receiver/blob/128a764efcfc05aa204cb2fef94f94f93280c829/app.ts",
  ),
  prescribed(
    "gemini",
    "standardwebhooks",
    "webhook",
    "https://github.com/google-gemini/cookbook/blob/07cc997658663a25b0e273c515246dcb5689cf9f/quickstarts/Webhooks.ipynb",
  ),
  prescribed(
    "supabase",
    "standardwebhooks",
    "webhook",
    "https://www.supabase.com/docs/guides/functions/examples/auth-send-email-hook-react-email-resend",
    // So Supabase shows it; its documentation has the version before the secret removed.
    `v1,${SECRET}`,
    (key) => key.replace("v1,", ""),
  ),
  prescribed(
    "bigcommerce",
    "standardwebhooks",
    "webhook",
    "https://github.com/bigcommerce/docs/blob/24f580ca6d2981728b7ed70a2049e00fc602c335/docs/integrations/webhooks/overview.mdx",
    "3c1f5e07b8a24d9c6e0f7b21a4d8c5936f1e2a7b",
    // Its documentation encodes the client secret, since the package decodes its key.
    (key) => Buffer.from(key).toString("base64"),
  ),
];
