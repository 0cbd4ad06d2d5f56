/** The handshakes that a source may describe. */
export const DESCRIBED_KINDS = ["echo-header", "echo-json", "echo-query", "head", "hub", "match-query"] as const;

/** The handshakes that are known, by the provider that asks for them, or as a source describes them. */
export type HandshakeKind =
  | (typeof DESCRIBED_KINDS)[number]
  | "adobe"
  | "airship"
  | "asana"
  | "bitbucket"
  | "braintree"
  | "cloudevents"
  | "discord"
  | "dropbox"
  | "ebay"
  | "event_grid"
  | "front"
  | "intercom"
  | "linkedin"
  | "mailchimp"
  | "mandrill"
  | "meta"
  | "monday"
  | "ms_graph"
  | "notion"
  | "nylas"
  | "okta"
  | "onfleet"
  | "slack"
  | "sns"
  | "trello"
  | "twitch"
  | "woocommerce"
  | "x"
  | "zoom";

/** Whether the provider and the server also share a token for the handshake. */
export function hasToken(kind: HandshakeKind): boolean {
  return kind === "airship" || kind === "braintree" || kind === "meta" || kind === "ebay";
}

/** Whether the answer is an HMAC of the challenge, made with the secret that also signs bodies. */
export function signsChallenges(kind: HandshakeKind): boolean {
  return kind === "linkedin" || kind === "x" || kind === "zoom";
}

/** Whether the answer is an HMAC of a challenge that anybody can send, made with the secret that also signs bodies. */
export function signsForAnybody(kind: HandshakeKind): boolean {
  return kind === "braintree" || kind === "linkedin" || kind === "x";
}

/** Whether a request that is no delivery is signed like one. */
export function signsRequests(kind: HandshakeKind): boolean {
  return kind === "airship";
}

/** Whether the secret that signs deliveries is made for the handshake, so that a source has none before. */
export function makesSecret(kind: HandshakeKind | undefined): boolean {
  return kind === "asana" || kind === "notion";
}
