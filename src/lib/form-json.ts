/** The fields in which senders put their whole payload as JSON, such as GitHub and Slack, Dropbox Sign, and Ko-fi. */
export const JSON_FIELDS = ["payload", "json", "data"] as const;

/** Whether a text begins as an object or an array of JSON. */
export const looksLikeJson = (text: string) => /^\s*[{[]/.test(text);
