/** Columns whose values nobody may read: `table.column` or `schema.table.column`, with `*` and `?` as wildcards. */
export const maskOption = {
  mask: {
    type: "string",
    list: true,
    valueName: "TABLE.COLUMN",
    heading: "Safety",
    description:
      "Columns whose values no tool returns: users.email, *.password, sales.users.*. They read as NULL everywhere in a statement, or the statement is refused. * and ? are wildcards; case does not matter.",
    check: (value: string) =>
      /^[^.]+(\.[^.]+){1,2}$/.test(value)
        ? undefined
        : "must be TABLE.COLUMN or SCHEMA.TABLE.COLUMN",
  },
} as const;

/** Regular expressions, to match without case; `schema` is undefined for any. */
export interface Mask {
  readonly schema: string | undefined;
  readonly table: string;
  readonly column: string;
}

/** @param texts values of `--mask` */
export function masksOf(texts: readonly string[]): Mask[] {
  return texts.map((text) => {
    const parts = text.split(".").map(anchored);
    const [table = "", column = ""] = parts.slice(-2);
    return { schema: parts.length > 2 ? parts[0] : undefined, table, column };
  });
}

/** A name with wildcards as a regular expression that JavaScript and PostgreSQL read alike. */
function anchored(glob: string): string {
  const escaped = glob.trim().replace(/[\\^$.|+()[\]{}]/g, "\\$&");
  return `^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`;
}

/** What an answer says about columns that it shows as NULL. */
export const maskedNotice = (columns: Iterable<string>): string =>
  `Masked by this server, so always NULL: ${[...columns].sort().join(", ")}.`;
