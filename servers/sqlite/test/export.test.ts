import { readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { exportRows } from "@refmcp/sql";
import { expect, it } from "vitest";
import { enter } from "./lab.ts";

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

it("leaves no file if the statement fails, writes or is cancelled", async () => {
  const { databases, folder, call } = await enter();
  const failing = exportRows(databases, input("a.csv", "SELECT * FROM user"), call);
  await expect(failing).rejects.toThrow(/Did you mean users/);
  const deleting = exportRows(databases, input("a.csv", "DELETE FROM users"), call);
  await expect(deleting).rejects.toMatchObject({ kind: "denied" });
  const endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t";
  const cancelling = {
    ...call,
    progress(done: number) {
      if (done > 10_000) call.cancel();
    },
  };
  const cancelled = exportRows(databases, input("a.csv", endless), cancelling);
  await expect(cancelled).rejects.toMatchObject({ kind: "cancelled" });
  expect(await readdir(folder)).toEqual(["shop.db"]);
});

it("overwrites nothing and follows no symlink", async () => {
  const { databases, folder, file, call } = await enter();
  await symlink(join(folder, "elsewhere.csv"), join(folder, "link.csv"));
  for (const [path, kind] of [
    [file, "conflict"],
    ["link.csv", "conflict"],
    ["/etc/x.csv", "denied"],
  ] as const) {
    const refused = exportRows(databases, input(path, "SELECT 1"), call);
    await expect(refused, path).rejects.toMatchObject({ kind });
  }
  expect((await readdir(folder)).sort()).toEqual(["link.csv", "shop.db"]);
});
