/**
 * What the server writes in English, such as errors and alerts, with its translation. In `serverTexts`, `{1}` stands
 * for one word, `{1*}` for any text, and `{text*}` for a text that may have a translation of its own.
 */
interface ServerFile {
  serverTexts: Readonly<Record<string, string>>;
  /** Parts of what the others stand for. */
  serverPhrases: Readonly<Record<string, string>>;
  /** What is wrong, by the name of the alert: for an alert whose text is not known. */
  alertTexts: Readonly<Record<string, string>>;
}

/** Translates what the server has written. What is not known stays as it is. */
export function serverTexts({ serverTexts, serverPhrases, alertTexts }: ServerFile) {
  const forms = Object.entries(serverTexts).map(([form, translated]) => ({ pattern: patternOf(form), translated }));

  function serverText(text: string): string {
    for (const { pattern, translated } of forms) {
      const found = pattern.exec(text);
      if (!found) continue;
      const valueNamed = (name: string) => found.groups?.[`_${name}`] ?? "";
      const whole = translated.replace(/\{(\w+)\}/g, (_, name) =>
        name === "text" ? serverText(valueNamed(name)) : valueNamed(name),
      );
      return Object.entries(serverPhrases).reduce((result, [phrase, other]) => result.replaceAll(phrase, other), whole);
    }
    return text;
  }

  /** The summary of an alert. */
  function alertText(name: string, summary: string): string {
    const text = serverText(summary);
    return text === summary ? (alertTexts[name] ?? summary) : text;
  }

  /** The title of an alert. */
  function alertTitle(name: string, title: string): string {
    const text = alertTexts[name];
    return text === undefined ? title : text.charAt(0).toUpperCase() + text.slice(1);
  }

  return { serverText, alertText, alertTitle };
}

function patternOf(form: string): RegExp {
  const escaped = form.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  const source = escaped.replace(/\{(\w*)(\\\*)?\}/g, (_, name, any) => {
    const value = any ? ".*?" : "\\S+";
    return name === "" ? value : `(?<_${name}>${value})`;
  });
  return new RegExp(`^${source}$`, "s");
}
