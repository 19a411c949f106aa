// Writes CSV, also in the rows view.

/** A field of a CSV file that is written: as in PostgreSQL's COPY, NULL is empty and an empty string is quoted. */
function csvField(value: unknown): string {
  switch (typeof value) {
    case "string":
      if (value === "") return '""';
      return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
    case "object":
      return value === null ? "" : csvField(JSON.stringify(value));
    case "undefined":
      return "";
    default:
      return String(value);
  }
}

/** A CSV record (RFC 4180) with a line feed. Objects are written as JSON. @param format what is written for a value */
export function csvLine(
  row: readonly unknown[],
  format = (value: unknown): unknown => value,
): string {
  let line = "";
  for (let at = 0; at < row.length; at++)
    line += `${at === 0 ? "" : ","}${csvField(format(row[at]))}`;
  return `${line}\n`;
}
