export { getDomainWithoutSuffix, getPublicSuffix } from "tldts";
