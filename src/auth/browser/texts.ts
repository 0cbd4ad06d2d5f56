import { type Html, html } from "./html.ts";

const ES = {
  lang: "es",
  locale: "es-ES",
  login: "Iniciar sesión",
  /** Before the host of another site that the login leads to. */
  continueTo: "Para continuar en",
  email: "Correo electrónico",
  password: "Contraseña",
  logIn: "Entrar",
  /** What a login does to other devices. */
  oneSession: "Al entrar se cierra tu sesión en cualquier otro dispositivo.",
  loggedIn: "Sesión iniciada",
  since: "Desde",
  browser: "Navegador",
  network: "Red",
  validUntil: "Válida hasta",
  /** What a login elsewhere does to this session. */
  endsElsewhere: "Si inicias sesión en otro lugar, esta sesión se cierra.",
  /** The link to the admin page. */
  toAdminPage: "Ver los eventos",
  /** The link to the page of the account. */
  toAccount: "Tu cuenta y segundos factores",
  logOut: "Cerrar sesión",
  /** Why a login was refused. `invalid_credentials` has the words of the API in every language. */
  errors: {
    invalid_credentials: "Credenciales inválidas" as string | Html,
    invalid_code: "El código no es correcto, o ya se ha usado. Espera al siguiente.",
    validation_failed: "Escribe una dirección de correo válida y una contraseña de al menos 6 caracteres.",
    too_many_attempts: (seconds: number) =>
      `Demasiados intentos fallidos. Espera ${counted(seconds, "segundo")} y prueba otra vez.`,
    unavailable: "Ahora no es posible iniciar sesión. Prueba otra vez en unos segundos.",
    /** Under an address where the browser would not keep the cookie. */
    elsewhere: (url: string) =>
      html`En esta dirección el navegador no guardaría la sesión. Inicia sesión en <a href="${url}">${new URL(url).origin}</a>.`,
  },
  /** The page of the second step. */
  code: {
    title: "Segundo paso",
    label: "Código",
    hint: "El código de 6 cifras de tu aplicación, o uno de tus códigos de recuperación. Cada uno vale una vez.",
    /** The link that begins the login anew. */
    startAgain: "Empezar de nuevo",
  },
  passkey: {
    logIn: "Entrar con una llave de acceso",
    cancelled: "No se ha usado ninguna llave de acceso. Prueba otra vez, o entra con la contraseña.",
    failed: "Ahora no es posible usar una llave de acceso. Entra con la contraseña.",
    /** After a login that was refused. */
    refused:
      "La llave de acceso no se ha aceptado.\nPrueba otra vez, o entra con la contraseña. Si la has movido a otro gestor, quítala de tu cuenta y añádela de nuevo.",
  },
  /** Above the login page that opens although a session lives. */
  logInAgain:
    "Inicia sesión otra vez.\nPara cambiar los segundos factores hace falta un inicio de los últimos 5 minutos.",
  /** The page of the link of an alert. */
  endSession: {
    title: "¿Has sido tú?",
    hint: "Alguien ha iniciado sesión desde una red nueva. Si no has sido tú, cierra esa sesión.",
    button: "Cerrar esa sesión",
    ended:
      "Esa sesión está cerrada. Cambia ahora la contraseña con authserve passwd: quien la sabe puede volver a entrar.",
  },
  superseded: (browser: string | null, network: string, time: string) =>
    `Sesión invalidada. Inicia sesión de nuevo.\nOtro inicio de sesión la sustituyó: ${browser ?? "un programa"}, desde la red ${network}, ${time}.\nSi no has sido tú, cambia la contraseña.`,
  ended: "Sesión invalidada. Inicia sesión de nuevo.",
  /** Why the login leads to the start page. The origin is that of the page that was asked for, if it is known. */
  refusedTarget: (origin: string | null) =>
    origin === null
      ? "No se puede volver a la página que pediste: su dirección no es válida.\nEn su lugar se abre la página de inicio. El registro del servidor dice por qué."
      : `No se puede volver a ${origin}: esa dirección no está permitida.\nEn su lugar se abre la página de inicio. Si la aplicación es tuya, añade su dirección a REDIRECT_ORIGINS.`,
  toStartPage: "Ir a la página de inicio",
  /** A link out of a frame. */
  openInWindow: "Abrir en toda la ventana",
};

/** The words of the pages in one language. */
export type Texts = typeof ES;

const EN: Texts = {
  lang: "en",
  locale: "en-GB",
  login: "Log in",
  continueTo: "To continue to",
  email: "E-mail",
  password: "Password",
  logIn: "Log in",
  oneSession: "Logging in ends your session on any other device.",
  loggedIn: "You are logged in",
  since: "Since",
  browser: "Browser",
  network: "Network",
  validUntil: "Valid until",
  endsElsewhere: "If you log in elsewhere, this session ends.",
  toAdminPage: "See the events",
  toAccount: "Your account and second factors",
  logOut: "Log out",
  errors: {
    invalid_code: "The code is wrong, or was used before. Wait for the next one.",
    invalid_credentials: html`The e-mail or the password is wrong. <span lang="es">(Credenciales inválidas)</span>`,
    validation_failed: "Enter a valid e-mail address, and a password of at least 6 characters.",
    too_many_attempts: (seconds) => `Too many failed logins. Wait ${counted(seconds, "second")} and try again.`,
    unavailable: "It is not possible to log in now. Try again in a few seconds.",
    elsewhere: (url) =>
      html`At this address your browser would not keep the session. Log in at <a href="${url}">${new URL(url).origin}</a>.`,
  },
  code: {
    title: "Second step",
    label: "Code",
    hint: "The 6 digits in your authenticator app, or one of your recovery codes. Each works once.",
    startAgain: "Start again",
  },
  passkey: {
    logIn: "Log in with a passkey",
    cancelled: "No passkey was used. Try again, or log in with the password.",
    failed: "It is not possible to use a passkey now. Log in with the password.",
    refused:
      "The passkey was not accepted.\nTry again, or log in with the password. If you have moved it to another password manager, remove it on your account and add it again.",
  },
  logInAgain: "Log in again.\nA change of second factors needs a login of the last 5 minutes.",
  endSession: {
    title: "Was it you?",
    hint: "Somebody has logged in from a new network. If it was not you, end that session.",
    button: "End that session",
    ended: "That session has ended. Now change the password with authserve passwd: whoever knows it can log in again.",
  },
  superseded: (browser, network, time) =>
    `Your session has ended. Log in again.\nAnother login replaced it: ${browser ?? "a program"}, from the network ${network}, ${time}.\nIf it was not you, change the password.`,
  ended: "Your session has ended. Log in again.",
  refusedTarget: (origin) =>
    origin === null
      ? "There is no way back to the page that you asked for: its address is not valid.\nYou get the start page instead. The log of the server says why."
      : `There is no way back to ${origin}: this address is not allowed.\nYou get the start page instead. If it is your app, add its address to REDIRECT_ORIGINS.`,
  toStartPage: "Go to the start page",
  openInWindow: "Open in the whole window",
};

const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? "" : "s"}`;

/** The language that a browser prefers: Spanish or English. Spanish if it names neither. */
export function textsFor(acceptLanguage: string | undefined): Texts {
  const ranked = (acceptLanguage ?? "").split(",").flatMap((item, index) => {
    const [, tag = "", q = "1"] = /^[ \t]*([A-Za-z]{1,8})[^;]*(?:;[ \t]*q=([0-9.]+)[ \t]*)?$/.exec(item) ?? [];
    const texts = { es: ES, en: EN }[tag.toLowerCase()];
    return texts && Number(q) > 0 ? [{ texts, q: Number(q), index }] : [];
  });
  ranked.sort((a, b) => b.q - a.q || a.index - b.index);
  return ranked[0]?.texts ?? ES;
}
