import type { Page } from "playwright-core";

/** The colors of one element, as `getComputedStyle` writes them. */
interface Painted {
  /** Names the element in a failure. */
  what: string;
  color: string;
  /** The color behind its text. */
  background: string;
  /** The color of the border of a field, and the color behind the field; else null. */
  border: { color: string; behind: string } | null;
}

/** The colors of every element of a page that has text of its own or can be filled in. */
export async function paintedOf(page: Page): Promise<Painted[]> {
  // Runs in the page. It must hold no named function: tsx would call a helper for its name, which the page does not
  // have.
  const found = await page.locator("body *:visible").evaluateAll((elements) =>
    elements.flatMap((element) => {
      const isField = element.matches("input, button");
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.trim());
      if (!isField && !hasText) return [];
      const view = element.ownerDocument.defaultView;
      const trail: string[] = [];
      for (let at: typeof element | null = element; at; at = at.parentElement)
        trail.push(view.getComputedStyle(at).backgroundColor);
      const { color, borderTopColor } = view.getComputedStyle(element);
      const what = `<${element.localName}> ${element.textContent?.trim().slice(0, 40) || element.id}`;
      const border: string | null = element.matches("input") ? borderTopColor : null;
      return [{ what, color: color as string, trail, border }];
    }),
  );
  return found.map(({ what, color, trail, border }) => ({
    what,
    color,
    background: firstPainted(trail),
    border: border === null ? null : { color: border, behind: firstPainted(trail.slice(1)) },
  }));
}

/** The first background that is not transparent, from an element outwards. Browsers paint white behind all. */
const firstPainted = (trail: string[]) => trail.find((color) => color !== "rgba(0, 0, 0, 0)") ?? "rgb(255, 255, 255)";

/** The contrast of two opaque colors, from 1 to 21 (WCAG 2.2, 1.4.3). */
export function contrastOf(one: string, other: string): number {
  const [low = 0, high = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminanceOf(color: string): number {
  const parts = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color);
  if (!parts) throw new Error(`${color} is not an opaque color`);
  const [red = 0, green = 0, blue = 0] = parts.slice(1).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
