import { it } from "vitest";

/** Whether the long tests run, which take whole matrices. */
export const isLong = process.env.REFMCP_LONG === "1";

/** The rows of a matrix that `npm test` takes: every nth. Its long test takes all of them. */
export const someOf = <Row>(every: number, rows: readonly Row[]): readonly Row[] =>
  isLong ? rows : rows.filter((_, at) => at % every === 0);

/** A test that only the long run takes. */
export const itLong = (name: string, test: () => Promise<void>): void => {
  if (isLong) it(name, test);
};
