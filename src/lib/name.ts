/** The name of a source, a route or a listener. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

const PERSON = "[a-z0-9][a-z0-9._-]{0,31}";

/** The id of a person, or the name of a group. */
export const PERSON_NAME = new RegExp(`^${PERSON}$`);

/** A person or a group, as entries of the configuration file name who is allowed. */
export const PERSON_OR_GROUP = new RegExp(`^(?:person|group):${PERSON}$`);

/** The name of a token for a program, after a person and a `/` if it is that person's own. */
export const TOKEN_NAME = new RegExp(`^(?:${PERSON}/)?[a-z0-9][a-z0-9-]{0,63}$`);
