// The server writes errors and alerts in English. These are their forms, with their Spanish.

const FORMS: [RegExp, string][] = [
  [/^attempt (\d+) of (\d+): (.*)$/s, "intento $1 de $2: $3"],
  [/^attempt (\d+), giveUpOn: (.*)$/s, "intento $1, giveUpOn: $2"],
  [/^the target answered (\d+)$/, "el destino respondió $1"],
  [/^the target cannot be reached(.*)$/s, "no se puede contactar con el destino$1"],
  [/^the handler did not finish within (\d+) ms$/, "no terminó en $1 ms"],
  [/^the command cannot be started (.*)$/s, "el programa no se puede iniciar $1"],
  [/^the command ended with (.*)$/s, "el programa terminó con $1"],
  [
    /^(\d+) of (\d+) attempts of the route (\S+) failed in the last (.+)$/,
    "han fallado $1 de $2 intentos de la ruta $3 en los últimos $4",
  ],
  [
    /^the source (\S+) has received nothing for (.+), and something is expected every (.+)$/,
    "la fuente $1 no recibe nada desde hace $2, y se espera algo cada $3",
  ],
  [/^an event has been queued for ([^;]+); others wait: (.+)$/, "un evento lleva $1 en cola; otros esperan: $2"],
  [/^an event has been queued for (.+)$/, "un evento lleva $1 en cola"],
  [
    /^the queue has been growing for (.+), to (\d+) events; others wait: (.+)$/,
    "la cola crece desde hace $1, hasta $2 eventos; otros esperan: $3",
  ],
  [/^the queue has been growing for (.+), to (\d+) events$/, "la cola crece desde hace $1, hasta $2 eventos"],
  [/^jobs are in the dead letters: (.+)$/, "hay trabajos fallidos: $1"],
  [
    /^(.+) are free on the disk of DATA_DIR, and deliveries are refused$/,
    "quedan $1 en el disco, y se rechazan entregas",
  ],
  [/^(.+) are free on the disk of DATA_DIR$/, "quedan $1 en el disco de DATA_DIR"],
  [/^the sender of (\S+) still signs with the old secret (\S+) only$/, "el remitente de $1 aún firma solo con $2"],
  [/^the certificate ends in (.+)$/, "el certificado caduca en $1"],
  [/^the certificate ended (.+) ago$/, "el certificado caducó hace $1"],
  [/^the token (\S+) expires in (.+)$/, "el token $1 caduca en $2"],
  [/^the token (\S+) expired (.+) ago$/, "el token $1 caducó hace $2"],
  [
    /^make a new one with authserve tokens create, give it to the program, and run authserve tokens revoke (\S+)$/,
    "crea otro con authserve tokens create, dalo al programa y ejecuta authserve tokens revoke $1",
  ],
  [/^(.+) is not ready: (.*)$/s, "$1 no está listo: $2"],
  [
    /^(\d+) deliveries were refused within a minute, though they may be genuine: (.+)$/,
    "en un minuto se rechazaron $1 entregas que pueden ser auténticas: $2",
  ],
  [/^the store refuses writes: (.*)$/s, "el almacén no acepta escrituras: $1"],
  [/^(\d+) dead letters have events that cannot be read$/, "$1 trabajos fallidos tienen eventos ilegibles"],
  [/^(\S+) has not accepted (\S+) since (\S+): it is retired$/, "$1 no acepta $2 desde $3: está retirado"],
  [
    /^(\S+) will retire (\S+) at (\S+), unless its sender uses it before$/,
    "$1 retirará $2 el $3, si su remitente no lo usa antes",
  ],
  [/^the sender of (\S+) has never signed with (\S+)$/, "el remitente de $1 nunca ha firmado con $2"],
  [/^the sender of (\S+) last signed with (\S+) (\d+) days? ago$/, "el remitente de $1 firmó con $2 hace $3 d"],
  [
    /^the sender of (\S+) still signs with the old secret (\S+), and never with (\S+)$/,
    "el remitente de $1 aún firma con el secreto antiguo $2, y nunca con $3",
  ],
  [
    /^the sender of (\S+) still signs with the old secret (\S+), and last with (\S+) (\d+) days? ago$/,
    "el remitente de $1 aún firma con el secreto antiguo $2, y con $3 hace $4 d",
  ],
  [/^remove (\S+) from (\S+)$/, "quita $1 de $2"],
  [/^set the secret of (\S+) at the sender$/, "pon el secreto de $1 en el remitente"],
  [/^check the webhook at the sender$/, "comprueba el webhook en el remitente"],
  [
    /^no delivery of (\S+) could be taken for ([^,]+), and its provider may not repeat them: .*$/,
    "durante $2 no se pudo recibir ninguna entrega de $1, y quizá su proveedor no las repita",
  ],
  [/^the subscription of (\S+) ends in ([^,]+)(.*)$/s, "la suscripción de $1 termina en $2$3"],
  [/^the subscription of (\S+) ended ([^,]+) ago(.*)$/s, "la suscripción de $1 terminó hace $2$3"],
  [
    /^set catchUp of (\S+), then authserve sources catch-up \S+$/,
    "define catchUp de $1 y ejecuta authserve sources catch-up $1",
  ],
  [
    /^its provider repeats nothing: read the missed data from its API$/,
    "su proveedor no repite nada: lee los datos que faltan de su API",
  ],
  [
    /^the provider no longer has the first of them: read the missed data from its API$/,
    "el proveedor ya no tiene las primeras: lee los datos que faltan de su API",
  ],
  [
    /^ask for the missed deliveries at the provider, or read the missed data from its API$/,
    "pide las entregas que faltan al proveedor, o lee los datos de su API",
  ],
  [/^renew it at the provider, and set expiresAt$/, "renuévala en el proveedor y define expiresAt"],
  [/^correct renew of the source, or its credential$/, "corrige renew de la fuente, o su credencial"],
  [/^make space on the disk, or shorten retention$/, "libera espacio en el disco o acorta la retención"],
  [/^set the new secret at the sender$/, "pon el secreto nuevo en el remitente"],
  [/^renew the files of TLS_CERT_FILE and TLS_KEY_FILE$/, "renueva los archivos de TLS_CERT_FILE y TLS_KEY_FILE"],
  // What a member of a request must be.
  [/^must not be empty(?: or have U\+0000)?$/, "no puede estar vacío"],
  [/^must be a time, e\.g\. (\S+)$/, "debe ser una hora, p. ej. $1"],
  [/^must be a (whole )?number$/, "debe ser un número"],
  [/^must be (?:at least 1|above 0)$/, "debe ser mayor que 0"],
  [/^must be at most (\d+)$/, "debe ser $1 como máximo"],
  [/^must be at most a year$/, "debe ser un año como máximo"],
  [/^must be at least a second and at most 36500 days$/, "debe estar entre un segundo y 36500 días"],
  [
    /^(?:must be|must have) 1 to 64 small letters, digits and -(?:, e\.g\. (\S+))?$/,
    "debe tener de 1 a 64 minúsculas, cifras y -",
  ],
  [/^must be an http or https URL$/, "debe ser una URL http o https"],
  [/^must be one or more of (.+)$/s, "debe tener uno o más de $1"],
  [/^must be one of (.+)$/s, "debe ser uno de $1"],
  [/^must be the name of an alert$/, "debe ser el nombre de una alerta"],
  [/^is too long$/, "es demasiado largo"],
  [/^is missing$|^is required$/, "falta"],
  [/^is not configured$/, "no está configurado"],
  [/^is not known$/, "no se conoce"],
  [/^is not a cursor of this request$/, "no es un cursor de esta petición"],
  [/^is taken: .*$/, "ya existe: revoca ese token antes, o elige otro nombre"],
  [/^has over (\d+) ids$/, "tiene más de $1 ids"],
  [/^has no secret$/, "no tiene secreto"],
  [/^has received deliveries: .*$/, "ya ha recibido entregas: su secreto no se muestra más"],
  [/^has public keys only: .*$/, "solo tiene claves públicas: una muestra necesita un secreto"],
  [/^needs CONFIG_WRITE=on$/, "requiere CONFIG_WRITE=on"],
  [/^needs (.+)$/, "requiere $1"],
];

/** What is wrong, for an alert whose text has no form. */
const ALERTS: Record<string, string> = {
  AuthserveFailureRate: "fallan muchos intentos de una ruta",
  AuthserveSourceSilent: "una fuente lleva demasiado tiempo sin recibir nada",
  AuthserveQueueOld: "un evento lleva demasiado tiempo en cola",
  AuthserveQueueGrowing: "la cola crece",
  AuthserveDeadLetters: "hay trabajos fallidos",
  AuthserveDiskLow: "queda poco espacio en disco",
  AuthserveOldSecret: "un remitente aún firma con un secreto antiguo",
  AuthserveCertificateExpiring: "el certificado caduca pronto",
  AuthserveOutage: "no se pudieron recibir entregas que quizá no se repitan",
  AuthserveSubscriptionEnds: "una suscripción termina",
  AuthserveTokenExpiring: "un token caduca pronto",
  AuthserveNewLoginNetwork: "un inicio de sesión desde una red nueva",
  AuthserveNotReady: "una parte del servidor no está lista",
  AuthserveDeliveriesRefused: "se rechazan entregas que pueden ser auténticas",
  AuthserveStoreRefusesWrites: "el almacén no acepta escrituras",
  AuthserveUnreadableEvents: "hay trabajos fallidos con eventos ilegibles",
};

/** The Spanish of what the server has written; the same text if it has no known form. */
export function spanishOf(text: string): string {
  const [form, spanish] = FORMS.find(([pattern]) => pattern.test(text)) ?? [];
  if (form === undefined || spanish === undefined) return text;
  // A part of it, such as the error after `attempt 1 of 3:`, may have a form of its own.
  const rest = /^attempt \d+[^:]*: |giveUpOn: /.test(text) ? form.exec(text)?.at(-1) : undefined;
  const whole = text.replace(form, spanish);
  const named = rest === undefined ? whole : whole.slice(0, whole.length - rest.length) + spanishOf(rest);
  return named.replaceAll(" of the route ", " de la ruta ").replaceAll(", paused for ", ", en pausa desde hace ");
}

/** The Spanish of the summary of an alert. */
export function spanishAlert(name: string, summary: string): string {
  const spanish = spanishOf(summary);
  return spanish === summary ? (ALERTS[name] ?? summary) : spanish;
}

/** The Spanish of the title of an alert. */
export function spanishTitle(name: string, title: string): string {
  const spanish = ALERTS[name] ?? title;
  return spanish.charAt(0).toUpperCase() + spanish.slice(1);
}
