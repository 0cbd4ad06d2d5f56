import type { FactorRecord, LoginMethod } from "../factors/store.ts";
import type { Texts } from "./texts.ts";

const ES = {
  title: "Tu cuenta",
  factors: "Segundos factores",
  /** Without a second factor. */
  noFactors: "Ahora basta la contraseña. Añade una llave de acceso o una aplicación, y hará falta algo más.",
  kinds: { passkey: "Llave de acceso", totp: "Aplicación de códigos" } satisfies Record<FactorRecord["kind"], string>,
  addedAt: "Añadida",
  usedAt: "Usada",
  neverUsed: "nunca",
  /** Of a passkey of another RP ID. */
  unusable: (rpId: string) => `No funciona en esta dirección: se hizo para ${rpId}.`,
  remove: "Quitar",
  name: "Nombre",
  /** The name of a new passkey, unless the user gives one. */
  passkeyName: "Llave de acceso",
  addPasskey: "Añadir una llave de acceso",
  noPasskeys: "Aquí no hay llaves de acceso: los navegadores las permiten con HTTPS y un nombre, o en localhost.",
  passkeyCancelled: "No se ha añadido ninguna llave de acceso. Prueba otra vez.",
  passkeyKnown: "Esta llave ya está en la lista.",
  passkeyFailed: "No se ha podido añadir la llave. Inicia sesión otra vez y prueba de nuevo.",
  addTotp: "Añadir una aplicación de códigos",
  totpName: "Aplicación de códigos",
  totpHint: "Lee la imagen con la aplicación, o escribe la clave en ella. Después escribe aquí el código que muestra.",
  totpSecret: "Clave",
  totpWrong: "El código no es correcto. Comprueba la hora del teléfono y escribe el código actual.",
  code: "Código",
  add: "Añadir",
  notAdded: "No se ha añadido: ya está en la lista, o hay demasiados.",
  codesLeft: (count: number) => `Quedan ${count} códigos de recuperación.`,
  renewCodes: "Hacer códigos nuevos",
  codesTitle: "Códigos de recuperación",
  codesHint:
    "Guárdalos donde no los pierdas con el teléfono. Cada uno vale una vez, en lugar de un código. Solo se muestran ahora.",
  done: "Los he guardado",
  tokens: "Tokens de programas",
  noTokens: "No hay ninguno.",
  expires: (time: string) => `Caduca: ${time}`,
  neverExpires: "No caduca",
  logins: "Últimos inicios de sesión",
  methods: {
    password: "contraseña",
    totp: "contraseña y código",
    recovery_code: "contraseña y código de recuperación",
    passkey: "llave de acceso",
  } satisfies Record<LoginMethod, string>,
  program: "un programa",
  thisSession: "esta sesión",
  changesNeedLogin: "Para cambiar algo hace falta un inicio de sesión de los últimos 5 minutos.",
  logInAgain: "Iniciar sesión otra vez",
};

/** The words of the page of the account in one language. */
export type AccountTexts = typeof ES;

const EN: AccountTexts = {
  title: "Your account",
  factors: "Second factors",
  noFactors: "Now the password is enough. Add a passkey or an authenticator app, and a login needs more than that.",
  kinds: { passkey: "Passkey", totp: "Authenticator app" },
  addedAt: "Added",
  usedAt: "Used",
  neverUsed: "never",
  unusable: (rpId) => `It does not work at this address: it was made for ${rpId}.`,
  remove: "Remove",
  name: "Name",
  passkeyName: "Passkey",
  addPasskey: "Add a passkey",
  noPasskeys: "There are no passkeys here: browsers allow them with HTTPS and a name, or at localhost.",
  passkeyCancelled: "No passkey was added. Try again.",
  passkeyKnown: "This passkey is in the list already.",
  passkeyFailed: "The passkey could not be added. Log in again and try once more.",
  addTotp: "Add an authenticator app",
  totpName: "Authenticator app",
  totpHint: "Read the picture with the app, or type the key into it. Then type here the code that it shows.",
  totpSecret: "Key",
  totpWrong: "The code is wrong. Check the clock of the phone, and type the present code.",
  code: "Code",
  add: "Add",
  notAdded: "It was not added: it is in the list already, or there are too many.",
  codesLeft: (count) => `${count} recovery codes are left.`,
  renewCodes: "Make new codes",
  codesTitle: "Recovery codes",
  codesHint:
    "Keep them where you do not lose them with the phone. Each works once, in place of a code. They are shown only now.",
  done: "I have kept them",
  tokens: "Tokens of programs",
  noTokens: "There are none.",
  expires: (time) => `Expires: ${time}`,
  neverExpires: "Never expires",
  logins: "Recent logins",
  methods: {
    password: "password",
    totp: "password and code",
    recovery_code: "password and recovery code",
    passkey: "passkey",
  },
  program: "a program",
  thisSession: "this session",
  changesNeedLogin: "A change needs a login of the last 5 minutes.",
  logInAgain: "Log in again",
};

/** The words of the page of the account in the language of the other pages. */
export const accountTexts = ({ lang }: Pick<Texts, "lang">): AccountTexts => (lang === "en" ? EN : ES);
