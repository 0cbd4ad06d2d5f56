export { getDomain, getPublicSuffix } from "tldts";
