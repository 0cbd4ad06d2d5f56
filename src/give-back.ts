/** Another name for {@link collectGarbageSoon}. */
export { collectGarbageSoon as giveBackSoon } from "./collect-garbage.ts";
