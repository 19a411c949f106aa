export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

/** JSON with two spaces of indentation in which a list of plain values stays on one line while it fits into 80 columns. */
export function jsonText(value: Json, indent = ""): string {
  if (typeof value !== "object") return JSON.stringify(value);
  const deeper = `${indent}  `;
  if (isList(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
    const plain = value.every((item) => typeof item !== "object");
    if (value.length === 0 || (plain && indent.length + line.length <= 80)) return line;
    return `[\n${value.map((item) => deeper + jsonText(item, deeper)).join(",\n")}\n${indent}]`;
  }
  const fields = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}: ${jsonText(item, deeper)}`,
  );
  return fields.length === 0 ? "{}" : `{\n${fields.map((field) => deeper + field).join(",\n")}\n${indent}}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** A word of a POSIX shell's command line, quoted only where it must be. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
