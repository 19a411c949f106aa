import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ROOT } from "../servers.ts";

const execute = promisify(execFile);
const { stdout } = await execute(
  "git",
  ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
  {
    cwd: ROOT,
  },
);
const pages = stdout
  .split("\n")
  .filter(
    (page) => page !== "" && !page.startsWith("scripts/templates/") && existsSync(join(ROOT, page)),
  );

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );

describe.each(pages)("%s", (page) => {
  it("has valid links", async () => {
    const text = await readFile(join(ROOT, page), "utf8");
    const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
    const broken: string[] = [];
    for (const [, target = ""] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
      if (!existsSync(file)) broken.push(target);
      else if (anchor !== undefined && !anchorsOf(await readFile(file, "utf8")).includes(anchor))
        broken.push(target);
    }
    expect(broken).toEqual([]);
  });

  it("contains no machine-specific path", async () => {
    const text = await readFile(join(ROOT, page), "utf8");
    expect(text).not.toMatch(/\/work\/|\/root\/|\/tmp\/|\/home\/(?!me\b|you\b|user\b)/);
  });
});
