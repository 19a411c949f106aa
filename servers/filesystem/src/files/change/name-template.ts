import { basename, extname } from "node:path";
import { failure } from "../messages.ts";

const DATE_PARTS = /yyyy|MM|dd|HH|mm/g;
const PLACEHOLDER = /\$(\$|\d{1,2})|\{([^{}]*)\}/g;
const FIELD = /^(name|stem|ext)(?::(lower|upper))?$/;
const ALLOWED =
  "$0, $1 …, $$, {name}, {stem}, {ext}, each also as {name:lower} or {name:upper}, and {mtime:yyyy-MM-dd} (yyyy, MM, dd, HH, mm)";

/** What a template is filled in with: the file's name, its captures, and when it was last modified. */
export interface Named {
  readonly name: string;
  readonly captures: readonly string[];
  readonly modified: Date;
}

/**
 * Compiles the destination of a pattern: `$1`, `$2` … are its captures, `$0` and `{name}` the whole name, `$$` a dollar
 * sign, `{stem}` the name without `{ext}`, its extension, `{name:lower}` and `{name:upper}` the name in lower or upper
 * case, and `{mtime:yyyy-MM}` the time of the last modification in local time.
 *
 * @param count the number of captures of the pattern.
 * @throws ToolError `invalid` for an unknown placeholder.
 */
export function compileTemplate(template: string, count: number): (named: Named) => string {
  for (const [whole, digits, field] of template.matchAll(PLACEHOLDER)) {
    const isNumber = digits !== undefined && (digits === "$" || Number(digits) <= count);
    const isField = field !== undefined && (FIELD.test(field) || isDate(field));
    if (isNumber || isField) continue;
    const why =
      digits === undefined ? "is unknown" : `is not one of the ${count} captures of source`;
    throw failure("bad_template", `The placeholder ${whole} in destination ${why}.`, {
      hint: `Use ${ALLOWED}.`,
    });
  }
  return ({ name, captures, modified }) =>
    template.replace(PLACEHOLDER, (_, digits: string | undefined, field = "") => {
      if (digits === "$") return "$";
      if (digits !== undefined) return digits === "0" ? name : (captures[Number(digits) - 1] ?? "");
      const [, part, letters] = FIELD.exec(field) ?? [];
      if (part === undefined) return dateText(modified, field.slice("mtime:".length));
      const extension = extname(name);
      const text =
        part === "name" ? name : part === "ext" ? extension.slice(1) : basename(name, extension);
      return letters === "lower"
        ? text.toLowerCase()
        : letters === "upper"
          ? text.toUpperCase()
          : text;
    });
}

function isDate(field: string): boolean {
  const format = /^mtime:(.+)$/.exec(field)?.[1];
  return format !== undefined && !/[a-zA-Z\\]/.test(format.replace(DATE_PARTS, ""));
}

function dateText(date: Date, format: string): string {
  const parts: Readonly<Record<string, number>> = {
    yyyy: date.getFullYear(),
    MM: date.getMonth() + 1,
    dd: date.getDate(),
    HH: date.getHours(),
    mm: date.getMinutes(),
  };
  return format.replace(DATE_PARTS, (part) => String(parts[part]).padStart(part.length, "0"));
}
