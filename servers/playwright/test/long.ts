/**
 * Whether `npm run test:all` runs the tests: FILE.long.test.ts imports FILE.test.ts, which then has all of its tests.
 * `npm test` has the representative ones.
 */
export const isLong = process.env.REFMCP_LONG === "1";

/** The rows of a table: all of them, or in `npm test` the first ones. */
export const rowsOf = <Row>(rows: readonly Row[], first: number): readonly Row[] =>
  isLong ? rows : rows.slice(0, first);
