/** Which CSS declarations make an element invisible, as far as they say so alone. */

/** A distance that moves something out of any window; slides of carousels move by the window's width at most. */
const FAR = String.raw`-(?:\d{4,}|[5-9]\d\d)`;
/** Declarations that hide, without spaces, each with another that it needs or that it must not have. */
const HIDING: readonly {
  readonly by: string;
  readonly with?: RegExp;
  readonly without?: RegExp;
}[] = [
  { by: "display:none" },
  { by: "visibility:(?:hidden|collapse)" },
  { by: String.raw`font-size:(?:0%?|[01](?:\.\d+)?px|0?\.\d+(?:px|pt|em|rem))(?:;|!|$)` },
  { by: `text-indent:${FAR}` },
  { by: "(?:max-)?(?:width|height):[01](?:px)?(?:;|!|$)", with: /overflow:(?:hidden|clip)/ },
  { by: `(?:left|right|top|bottom):${FAR}`, with: /position:(?:absolute|fixed|relative)/ },
  {
    by: String.raw`opacity:(?:0?(?:\.0\d*)?|[0-4](?:\.\d+)?%)(?:[;!]|$)`,
    // What fades in is shown by a script.
    without: /transition|animation|transform/,
  },
  // The background may show through the letters.
  { by: "color:(?:transparent|rgba\\(.*,0\\)|#.{6}00)(?:[;!]|$)", without: /background-clip:text/ },
];
const PATTERNS = HIDING.map((rule) => ({ ...rule, by: new RegExp(`(?:^|;)${rule.by}`) }));

/** White, which cannot be seen where nothing sets a background. */
const WHITE =
  /(?:^|;)color:(?:white|#f[\da-f](?:f[\da-f]){2}|#fff|rgba?\(255[ ,]*255[ ,]*255[^)]*\))/;

/** Whether declarations hide their element: by its display, visibility, size, position, opacity or color. */
export function isHiding(declarations: string): boolean {
  const style = compact(declarations);
  return PATTERNS.some(
    (rule) =>
      rule.by.test(style) &&
      (rule.with?.test(style) ?? true) &&
      !(rule.without?.test(style) ?? false),
  );
}

/** Whether declarations make text white, or nearly. */
export const isWhite = (declarations: string): boolean => WHITE.test(compact(declarations));

const compact = (declarations: string): string =>
  declarations
    .slice(0, 2_000)
    .toLowerCase()
    .replace(/\s*([:;,()])\s*/g, "$1")
    .trim();
