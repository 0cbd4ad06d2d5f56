/** A QR code as SVG, in black on white: many cameras read no other one. */
export async function qrSvg(text: string): Promise<string> {
  const { renderSVG } = await import("./uqr.ts");
  return renderSVG(text, { ecc: "M", border: 4, pixelSize: 4 });
}

/** A QR code for a dark or light terminal. */
export async function qrText(text: string): Promise<string> {
  const { renderANSI } = await import("./uqr.ts");
  return renderANSI(text, { ecc: "L", border: 2 });
}
