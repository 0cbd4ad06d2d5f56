import { readTexts, type TextsOf } from "../../lib/texts.ts";
import en from "./texts/en.json" with { type: "json" };
import es from "./texts/es.json" with { type: "json" };

/** The words of the pages in one language. */
export type Texts = TextsOf<typeof en>;

const LANGUAGES: Record<string, Texts> = { en: readTexts<typeof en>(en, en), es: readTexts<typeof en>(es, es) };

/** The language that a browser prefers: Spanish or English. Spanish if it names neither. */
export function textsFor(acceptLanguage: string | undefined): Texts {
  const ranked = (acceptLanguage ?? "").split(",").flatMap((item, index) => {
    const [, tag = "", q = "1"] = /^[ \t]*([A-Za-z]{1,8})[^;]*(?:;[ \t]*q=([0-9.]+)[ \t]*)?$/.exec(item) ?? [];
    const texts = LANGUAGES[tag.toLowerCase()];
    return texts && Number(q) > 0 ? [{ texts, q: Number(q), index }] : [];
  });
  ranked.sort((a, b) => b.q - a.q || a.index - b.index);
  return ranked[0]?.texts ?? (LANGUAGES.es as Texts);
}
