type Color = readonly [red: number, green: number, blue: number, alpha: number];

const NAMED: Readonly<Record<string, Color>> = {
  white: [255, 255, 255, 1],
  black: [0, 0, 0, 1],
  transparent: [0, 0, 0, 0],
};
/** Colors that differ less in each channel look the same. */
const NEAR = 8;

/** A CSS color in the common notations (CSS Color 4); undefined for others, and for hues. */
function colorOf(css: string): Color | undefined {
  const text = css.trim().toLowerCase();
  if (NAMED[text] !== undefined) return NAMED[text];
  const [, digits] = /^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/.exec(text) ?? [];
  if (digits !== undefined) {
    const pairs = digits.length < 6 ? [...digits].map((digit) => digit + digit) : (digits.match(/../g) ?? []);
    const [red = 0, green = 0, blue = 0, alpha = 255] = pairs.map((pair) => Number.parseInt(pair, 16));
    return [red, green, blue, alpha / 255];
  }
  const [, name, inside = ""] = /^(rgb|hsl)a?\(([^()]*)\)$/.exec(text) ?? [];
  const parts = inside.split(/[\s,/]+/).filter((part) => part !== "");
  const share = (part: string, whole: number): number =>
    part.endsWith("%") ? (Number.parseFloat(part) / 100) * whole : Number.parseFloat(part);
  const alpha = share(parts[3] ?? "1", 1);
  if (name === "rgb") {
    const [red = 0, green = 0, blue = 0] = parts.map((part) => share(part, 255));
    return [red, green, blue, alpha];
  }
  const lightness = parts[2] ?? "";
  if (name !== "hsl" || (lightness !== "100%" && lightness !== "0%" && alpha > 0)) return undefined;
  const gray = share(lightness, 255);
  return [gray, gray, gray, alpha];
}

/** Whether text of one color cannot be seen on a background of another, or on any if that is undefined. */
export function isInvisible(text: string, background?: string): boolean {
  const color = colorOf(text);
  const behind = background === undefined ? undefined : colorOf(background);
  if (color !== undefined && color[3] < 0.05) return true;
  if (background !== undefined && text.trim() === background.trim()) return true;
  if (color === undefined || behind === undefined || behind[3] < 1) return false;
  return [0, 1, 2].every((channel) => Math.abs((color[channel] ?? 0) - (behind[channel] ?? 0)) < NEAR);
}
