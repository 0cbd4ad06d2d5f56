export { getDomain, getDomainWithoutSuffix, getPublicSuffix } from "tldts";
