/** The name of a source, a route or a listener. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** The id of a person, or the name of a group. */
export const PERSON_NAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;

/** The name of a token for a program, after a person and a `/` if it is that person's own. */
export const TOKEN_NAME = /^(?:[a-z0-9][a-z0-9._-]{0,31}\/)?[a-z0-9][a-z0-9-]{0,63}$/;
