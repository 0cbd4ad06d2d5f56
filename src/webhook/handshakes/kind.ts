/** The handshakes that are known, by the provider that asks for them. */
export type HandshakeKind =
  | "adobe"
  | "bitbucket"
  | "cloudevents"
  | "discord"
  | "dropbox"
  | "ebay"
  | "event_grid"
  | "front"
  | "intercom"
  | "linkedin"
  | "mandrill"
  | "meta"
  | "monday"
  | "ms_graph"
  | "nylas"
  | "okta"
  | "onfleet"
  | "slack"
  | "trello"
  | "twitch"
  | "woocommerce"
  | "x"
  | "zoom";

/** Whether the provider and the server also share a token for the handshake. */
export function hasToken(kind: HandshakeKind): boolean {
  return kind === "meta" || kind === "ebay";
}

/** Whether the answer is an HMAC of the challenge, made with the secret that also signs bodies. */
export function signsChallenges(kind: HandshakeKind): boolean {
  return kind === "linkedin" || kind === "x" || kind === "zoom";
}
