import { basename, extname } from "node:path";
import { failure } from "../errors.ts";

const DATE_PARTS = /yyyy|MM|dd|HH|mm/g;
const PLACEHOLDER = /\$(\$|\d{1,2})|\{([^{}]*)\}/g;
const NAME = /^(name|stem|ext)(?::(lower|upper))?$/;
/** A counter, with the number and the width to start with: `{n:001}`. */
const COUNTER = /^n(?::(\d{1,9}))?$/;
const ALLOWED =
  "$0, $1 …, $$, {name}, {stem}, {ext}, each also as {name:lower} or {name:upper}, {n} or {n:001} for a number, and {mtime:yyyy-MM-dd} (yyyy, MM, dd, HH, mm)";

/** What a template is filled in with: a file's name, its captures, its number from 0, and when it was last modified. */
interface TemplateValues {
  readonly name: string;
  readonly captures: readonly string[];
  readonly index: number;
  readonly modified: Date;
}

/**
 * Compiles the destination of a pattern: `$1`, `$2` … are its captures, `$0` and `{name}` the whole name, `$$` a dollar
 * sign, `{stem}` the name without `{ext}`, its extension, `{name:lower}` and `{name:upper}` the name in lower or upper
 * case, `{n}` counts the files, and `{mtime:yyyy-MM}` is the time of the last modification in local time.
 *
 * @param count the number of captures of the pattern
 * @throws ToolError `invalid` for an unknown placeholder
 */
export function compileTemplate(template: string, count: number) {
  for (const [whole, digits, field] of template.matchAll(PLACEHOLDER)) {
    const isNumber = digits !== undefined && (digits === "$" || Number(digits) <= count);
    const isField =
      field !== undefined && (NAME.test(field) || COUNTER.test(field) || isDate(field));
    if (isNumber || isField) continue;
    const why =
      digits === undefined ? "is unknown" : `is not one of the ${count} captures of source`;
    throw failure("bad_template", `The placeholder ${whole} in destination ${why}.`, {
      hint: `Use ${ALLOWED}.`,
    });
  }
  return (values: TemplateValues): string =>
    template.replace(PLACEHOLDER, (_, digits: string | undefined, field = "") =>
      digits === undefined ? fieldText(field, values) : captureText(digits, values),
    );
}

function captureText(digits: string, { name, captures }: TemplateValues): string {
  if (digits === "$") return "$";
  return digits === "0" ? name : (captures[Number(digits) - 1] ?? "");
}

function fieldText(field: string, { name, index, modified }: TemplateValues): string {
  const counter = COUNTER.exec(field);
  if (counter !== null) {
    const start = counter[1] ?? "1";
    return String(Number(start) + index).padStart(start.length, "0");
  }
  const [, part, letters] = NAME.exec(field) ?? [];
  if (part === undefined) return dateText(modified, field.slice("mtime:".length));
  const extension = extname(name);
  const text =
    part === "name" ? name : part === "ext" ? extension.slice(1) : basename(name, extension);
  if (letters === undefined) return text;
  return letters === "lower" ? text.toLowerCase() : text.toUpperCase();
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
