import { it } from "vitest";

/**
 * Whether the long tests run (`npm run test:all`, or `vitest run --mode long`). Then each file that imports this module runs
 * again with all of its tests; `npm test` has the representative ones.
 */
export const isLong = process.env.REFMCP_LONG === "1";

/** The rows of a matrix: all of them, or in `npm test` every nth. */
export const someOf = <Row>(every: number, rows: readonly Row[]): readonly Row[] =>
  isLong ? rows : rows.filter((_, at) => at % every === 0);

/** The rows of a table: all of them, or in `npm test` the first ones. */
export const rowsOf = <Row>(rows: readonly Row[], first: number): readonly Row[] =>
  isLong ? rows : rows.slice(0, first);

/** The size of a hostile input: a quarter in `npm test`, where what is not linear would still exceed every limit. */
export const sized = (count: number): number => (isLong ? count : count / 4);

/** A test that only the long run has. */
export const itLong = (name: string, test: () => void | Promise<void>, ms?: number): void => {
  if (isLong) it(name, test, ms);
};
