import type { CallTool } from "@refmcp/testing";
import type { Solution } from "../run.ts";

/** Runs statements in one transaction. */
export const execute = (call: CallTool, ...statements: readonly unknown[]) =>
  call("pg_execute", { statements });

/** Looks at the tables whose names contain `query`, then changes the database. */
export const afterLooking =
  (query: string, ...statements: readonly string[]): Solution =>
  async (call) => {
    await call("pg_describe_tables", { query });
    await execute(call, ...statements);
  };
