import { createFormats } from "../format.ts";
import { EN, type Texts } from "./en.ts";
import { ES } from "./es.ts";

/** The language that the page is bundled for: `en` or `es`. */
declare const PAGE_LANGUAGE: string;

/** The words of the page in its language. */
export const t: Texts = PAGE_LANGUAGE === "es" ? ES : EN;

/** Numbers and times in this language. */
export const formats = createFormats(t.locale);
