/** The name of a source, a route, a token for a program or a listener. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
