export { renderANSI, renderSVG } from "uqr";
