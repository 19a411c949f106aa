import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ROOT } from "../servers.ts";

const execute = promisify(execFile);

describe("what is committed", () => {
  it.each(["pnpm-lock.yaml", "test/clients/pnpm-lock.yaml"])(
    "%s has no download URLs, so that any registry can serve it",
    async (file) => {
      const lockfile = await readFile(join(ROOT, file), "utf8");
      expect(lockfile.match(/tarball:.*|https?:\/\/.*/g) ?? []).toEqual([]);
      expect(lockfile).toContain("integrity: sha512-");
    },
  );

  it("contains no path of the machine it was created on", async () => {
    const result = await execute(
      "git",
      ["grep", "--files-with-matches", "--fixed-strings", "-I", resolve(ROOT)],
      {
        cwd: ROOT,
      },
    ).catch((error: { code: number; stdout: string }) => {
      // git grep exits with 1 if it finds nothing.
      if (error.code !== 1) throw error;
      return error;
    });
    expect(result.stdout.split("\n").filter((file) => file !== "")).toEqual([]);
  });
});
