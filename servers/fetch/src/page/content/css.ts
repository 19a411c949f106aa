/** Which CSS declarations make an element invisible, as far as they say so alone. */

/** A distance that moves something out of any window; slides of carousels move by the window's width at most. */
const FAR = String.raw`-(?:\d{4,}|[5-9]\d\d)`;
const START = "(?:^|;)";
/** Declarations that hide, each with another that it needs or that it must not have, without spaces. */
const HIDING: readonly {
  readonly by: RegExp;
  readonly with?: RegExp;
  readonly without?: RegExp;
}[] = [
  { by: new RegExp(`${START}display:none`) },
  { by: new RegExp(`${START}visibility:(?:hidden|collapse)`) },
  {
    by: new RegExp(
      String.raw`${START}font-size:(?:0%?|[01](?:\.\d+)?px|0?\.\d+(?:px|pt|em|rem))(?:;|!|$)`,
    ),
  },
  { by: new RegExp(`${START}text-indent:${FAR}`) },
  {
    by: new RegExp(`${START}(?:max-)?(?:width|height):[01](?:px)?(?:;|!|$)`),
    with: /overflow:(?:hidden|clip)/,
  },
  {
    by: new RegExp(`${START}(?:left|right|top|bottom):${FAR}`),
    with: new RegExp(`${START}position:(?:absolute|fixed|relative)`),
  },
  {
    by: new RegExp(String.raw`${START}opacity:(?:0?(?:\.0\d*)?|[0-4](?:\.\d+)?%)(?:[;!]|$)`),
    // What fades in is shown by a script.
    without: /transition|animation|transform/,
  },
];
const COLOR = /(?:^|;)\s*color\s*:([^;!]{1,100})/i;
const BACKGROUND = /(?:^|;)\s*background(?:-color)?\s*:([^;!]{1,100})/i;

/** Whether declarations hide their element: by its display, visibility, size, position, opacity or color. */
export function isHiding(declarations: string): boolean {
  const start = declarations.slice(0, 2_000);
  const style = start.toLowerCase().replace(/\s+/g, "");
  const isHidden = HIDING.some(
    (rule) =>
      rule.by.test(style) &&
      (rule.with?.test(style) ?? true) &&
      !(rule.without?.test(style) ?? false),
  );
  if (isHidden) return true;
  // The background shows through the letters.
  if (style.includes("background-clip:text")) return false;
  const [, color] = COLOR.exec(start) ?? [];
  return color !== undefined && isInvisible(color, BACKGROUND.exec(start)?.[1]);
}

type Color = readonly [red: number, green: number, blue: number, alpha: number];

const NAMED: Readonly<Record<string, Color>> = {
  white: [255, 255, 255, 1],
  black: [0, 0, 0, 1],
  transparent: [0, 0, 0, 0],
};
/** Colors that differ less in each channel look the same. */
const NEAR = 8;

/** Whether text of one color cannot be seen on a background of another, or on any if that is undefined. */
export function isInvisible(text: string, background?: string): boolean {
  const color = colorOf(text);
  if (color !== undefined && color[3] < 0.05) return true;
  if (background !== undefined && text.trim() === background.trim()) return true;
  const behind = background === undefined ? undefined : colorOf(background);
  if (color === undefined || behind === undefined || behind[3] < 1) return false;
  return color.slice(0, 3).every((part, channel) => Math.abs(part - (behind[channel] ?? 0)) < NEAR);
}

/** A CSS color in hexadecimal digits or as rgb(); undefined for others. */
function colorOf(css: string): Color | undefined {
  const text = css.trim().toLowerCase();
  if (NAMED[text] !== undefined) return NAMED[text];
  const [, digits] = /^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/.exec(text) ?? [];
  if (digits !== undefined) {
    const pairs = digits.match(digits.length < 6 ? /./g : /../g) ?? [];
    const [red = 0, green = 0, blue = 0, alpha = 255] = pairs.map((pair) =>
      Number.parseInt(pair.padStart(2, pair), 16),
    );
    return [red, green, blue, alpha / 255];
  }
  const [, inside] = /^rgba?\(([^()]*)\)$/.exec(text) ?? [];
  const numbers = inside?.split(/[\s,/]+/).filter(Boolean);
  if (numbers === undefined) return undefined;
  const [red = 0, green = 0, blue = 0, alpha = 1] = numbers.map(Number.parseFloat);
  return [red, green, blue, alpha];
}
