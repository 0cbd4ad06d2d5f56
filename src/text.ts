/** Messages that clients rely on word for word. */
export const INVALID_CREDENTIALS = "Credenciales inválidas";
export const SESSION_INVALIDATED = "Sesión invalidada. Inicia sesión de nuevo.";
export const UNAUTHORIZED = "Unauthorized";
