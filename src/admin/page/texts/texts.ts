import { createFormats } from "../format.ts";
import { EN, type Texts } from "./en.ts";
import { ES } from "./es.ts";

/** The words of the page in the language of the document. */
export const t: Texts = document.documentElement.lang === "es" ? ES : EN;

/** Numbers and times in this language. */
export const formats = createFormats(t.locale);
