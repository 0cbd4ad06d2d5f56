export { getPublicSuffix } from "tldts";
