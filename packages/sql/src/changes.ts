import * as z from "zod";

/**
 * The input of a tool that runs a transaction: statements as text, or as text with values.
 *
 * @param example a statement for the description
 * @param params the schema of a statement's values
 */
export const statementsInput = <Params extends z.ZodType>(example: string, params: Params) =>
  z
    .array(
      z.union([z.string(), z.strictObject({ sql: z.string(), params })], {
        error: "expected an SQL text or { sql, params }",
      }),
    )
    .min(1)
    .max(500)
    .describe(`In order, each as text or with values: ["${example}", { "sql": …, "params": […] }].`);

/** All statements of `statementsInput` in one form. */
export const withValues = (
  statements: readonly (string | { readonly sql: string; readonly params: readonly unknown[] })[],
) => statements.map((one) => (typeof one === "string" ? { sql: one, params: [] } : one));

/** The answer of a tool that changes data, the same in every SQL server. */
export const changeOutput = z.object({
  committed: z.boolean(),
  /** One for each statement. */
  results: z.array(
    z.object({
      command: z.string(),
      row_count: z.number().optional(),
      columns: z.array(z.object({ name: z.string(), type: z.string() })).optional(),
      rows: z.array(z.array(z.unknown())).optional(),
    }),
  ),
  tables: z
    .array(z.object({ table: z.string(), inserted: z.number(), updated: z.number(), deleted: z.number() }))
    .optional(),
  last_insert_rowid: z.string().optional(),
  loss: z.string().optional(),
  undo: z.array(z.string()).optional(),
  truncated: z.boolean(),
  truncated_by: z.enum(["bytes", "cell"]).optional(),
  notices: z.array(z.string()).optional(),
});
