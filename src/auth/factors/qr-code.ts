/** A QR code for a dark or light terminal. */
export async function qrText(text: string): Promise<string> {
  const { renderANSI } = await import("uqr");
  return renderANSI(text, { ecc: "L", border: 2 });
}
