import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { exportRows } from "@refmcp/sql";
import { expect, it } from "vitest";
import { labs } from "./tools.ts";

const enter = labs();
const input = (path: string, sql: string) => ({ sql, params: [], path });

it("writes all rows, values exactly, and links to the file", async () => {
  const { databases, folder, call } = await enter();
  const values =
    "SELECT 9007199254740993 AS big, NULL AS n, '' AS e, 'a,\"b\"' AS t, x'00ff' AS b, 9e999 AS i";
  const answer = await exportRows(databases, input("all.csv", values), call);
  expect(answer).toMatchObject({ rows: 1, path: join(folder, "all.csv") });
  expect(await readFile(join(folder, "all.csv"), "utf8")).toBe(
    'big,n,e,t,b,i\n9007199254740993,,"","a,""b""",AP8=,9e999\n',
  );
});
