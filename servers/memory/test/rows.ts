/** Whether the long tests run, which are complete. */
export const isLong = process.env.REFMCP_LONG === "1";

/** The rows of a matrix that `npm test` takes: every nth. Its long test takes all of them. */
export const someOf = <Row>(every: number, rows: readonly Row[]): readonly Row[] =>
  isLong ? rows : rows.filter((_, at) => at % every === 0);
