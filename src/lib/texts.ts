/** A text for each plural category of its parameter `count`. A language may have more of them than these. */
interface Forms {
  one: string;
  other: string;
}

type Value<Parameter> = Parameter extends "count" ? number : string | number;

type Values<Parameters extends string> = Parameters extends `${infer First}, ${infer Others}`
  ? [Value<First>, ...Values<Others>]
  : [Value<Parameters>];

type NameOf<Key> = Key extends `${infer Name}(${string})` ? Name : Key;

/** The texts of a file: `"took(duration)": "took {duration}"` is a function, other texts are strings. */
export type TextsOf<File> = {
  [Key in keyof File as NameOf<Key>]: Key extends `${string}(${infer Parameters})`
    ? (...values: Values<Parameters>) => string
    : File[Key] extends object
      ? TextsOf<File[Key]>
      : string;
};

/** A file with the same texts, in any language. */
export type Translation<File> = {
  [Key in keyof File]: Key extends `${string}(${string})`
    ? string | Forms
    : File[Key] extends object
      ? Translation<File[Key]>
      : string;
};

/** How a language forms plurals and writes numbers. */
interface Language {
  locale: string;
  numberText?: (value: number) => string;
}

/** Reads the texts of a file. */
export function readTexts<File>(file: Translation<File>, { locale, numberText = String }: Language): TextsOf<File> {
  const plurals = new Intl.PluralRules(locale);
  const formOf = (text: string | Forms, count: unknown) =>
    typeof text === "string" ? text : (text[plurals.select(Number(count)) as keyof Forms] ?? text.other);
  const fill = (text: string | Forms, values: Record<string, string | number | undefined>) =>
    formOf(text, values.count).replace(/\{(\w+)\}/g, (_, name) => {
      const value = values[name];
      return typeof value === "number" ? numberText(value) : String(value);
    });
  const read = (group: object): object =>
    Object.fromEntries(
      Object.entries(group).map(([key, text]) => {
        const [, name, list = ""] = /^(\w+)\((.+)\)$/.exec(key) ?? [];
        if (name === undefined) return [key, typeof text === "string" ? text : read(text)];
        const parameters = list.split(", ");
        const written = (...values: (string | number)[]) =>
          fill(text, Object.fromEntries(parameters.map((parameter, index) => [parameter, values[index]])));
        return [name, written];
      }),
    );
  return read(file as object) as TextsOf<File>;
}
