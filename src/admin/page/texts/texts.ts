import { readTexts, type Translation } from "../../../lib/texts.ts";
import { createFormats } from "../format.ts";
import { isUtc } from "../utc.ts";
import en from "./en.json" with { type: "json" };
import es from "./es.json" with { type: "json" };
import { serverTexts } from "./server-texts.ts";

/** The language that the page is bundled for: `en` or `es`. */
declare const PAGE_LANGUAGE: string;

const file: Translation<typeof en> = PAGE_LANGUAGE === "es" ? es : en;

/** Numbers and times in this language. */
export const formats = createFormats(file.locale, isUtc ? "UTC" : undefined);

/** The words of the page in its language. */
export const t = readTexts<typeof en>(file, { locale: file.locale, numberText: formats.count });

/** One of several texts, by a name of the server; undefined if it is unknown. */
export const named = (texts: Readonly<Record<string, string>>, name: string): string | undefined => texts[name];

/** What the server has written, in this language as far as it is known. */
export const { serverText, alertText, alertTitle } = serverTexts(file);
