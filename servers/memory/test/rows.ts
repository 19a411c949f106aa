/** Whether the long tests run, which are complete. */
export const isLong = process.env.REFMCP_LONG === "1";
