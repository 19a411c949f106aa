/**
 * ASCII text as characters of a private use area, which neither Readability nor mdream interprets, escapes or joins.
 * `asWritten` restores it in the Markdown.
 */
export function verbatim(text: string): string {
  return text.replace(/[ -~]/g, (sign) => HIGH + String.fromCharCode(LOW + sign.charCodeAt(0)));
}

/** Text with everything that `verbatim` replaced. */
export function asWritten(text: string): string {
  if (!text.includes(HIGH)) return text;
  return text.replace(/\udbff([\udf20-\udf7e])/g, (_, low: string) =>
    String.fromCharCode(low.charCodeAt(0) - LOW),
  );
}

/** U+10FF00 plus the character's code, as surrogates. */
const HIGH = "\udbff";
const LOW = 0xdf00;

/** A page's text without such characters. */
export const withoutVerbatim = (text: string): string => text.replace(/\udbff[\udf00-\udf7f]/g, "");
