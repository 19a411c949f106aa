import { it } from "vitest";

/** Whether the long tests run, which are complete. */
export const isLong = process.env.REFMCP_LONG === "1";

/** A test that only the long run takes. */
export const itLong = (name: string, test: () => void | Promise<void>): void => {
  if (isLong) it(name, test);
};
