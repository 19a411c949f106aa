import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { ROOT, SERVERS } from "../servers.ts";

const FOLDER = join(ROOT, ".github", "workflows");
const permissions = z.record(z.string(), z.enum(["read", "write", "none"]));
const workflow = z.object({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions,
  jobs: z.record(
    z.string(),
    z.object({
      needs: z.string().optional(),
      "timeout-minutes": z.number(),
      permissions: permissions.optional(),
      steps: z.array(
        z.object({
          uses: z.string().optional(),
          run: z.string().optional(),
          with: z.record(z.string(), z.unknown()).optional(),
        }),
      ),
    }),
  ),
});
const read = (file: string) => workflow.parse(parse(readFileSync(join(FOLDER, file), "utf8")));
const runsOf = (job: z.output<typeof workflow>["jobs"][string] | undefined) =>
  (job?.steps ?? []).map(({ run = "" }) => run).join("\n");

describe.each(readdirSync(FOLDER))("the workflow %s", (file) => {
  it("runs scripts that are there, uses actions in a fixed major version, and stores no secret", () => {
    for (const job of Object.values(read(file).jobs)) {
      for (const [path] of runsOf(job).matchAll(/(?:scripts|\.ci)\/[\w./-]+/g))
        expect(existsSync(join(ROOT, path)), path).toBe(true);
      for (const { uses = "x@v1" } of job.steps) expect(uses).toMatch(/@v\d+$/);
    }
    expect(readFileSync(join(FOLDER, file), "utf8")).not.toContain("secrets.");
  });
});

describe("the release", () => {
  const { on, jobs } = read("release.yml");

  it("begins with a tag, and publishes nothing before all tests have passed", () => {
    expect(on).toEqual({ push: { tags: ["v*"] } });
    expect(runsOf(jobs["test"])).toBe("\n\n.ci/run");
    expect(jobs["npm"]?.needs).toBe("test");
    expect([jobs["registry"]?.needs, jobs["bundles"]?.needs]).toEqual(["npm", "npm"]);
  });

  it("may sign where it publishes, and write nowhere but to the release's files", () => {
    expect(jobs["npm"]?.permissions).toEqual({ contents: "read", "id-token": "write" });
    expect(jobs["registry"]?.permissions).toEqual({ contents: "read", "id-token": "write" });
    expect(jobs["test"]?.permissions).toBeUndefined();
    expect(runsOf(jobs["registry"])).toMatch(/mcp-publisher validate && .*mcp-publisher publish/);
  });

  it("runs no demo and installs no system package where it may sign or write", () => {
    for (const file of readdirSync(FOLDER)) {
      const { jobs: all, permissions: common } = read(file);
      for (const [name, job] of Object.entries(all)) {
        if (!Object.values(job.permissions ?? common).includes("write")) continue;
        expect(runsOf(job), `${file}: ${name}`).not.toMatch(
          /npm (?:start|test)|scripts\/(?:start|test)|\.ci\/run|apt-get|sudo|playwright/,
        );
      }
    }
    expect(runsOf(jobs["npm"]).trim().split("\n")[0]).toBe("node scripts/setup.mjs");
    const setup = readFileSync(join(ROOT, "scripts", "setup.mjs"), "utf8");
    expect(setup.match(/^(?:await|import) .*/gm)).toEqual([
      'import { build, install } from "./lib/setup.mjs";',
      "await install();",
      "await build();",
    ]);
  });

  it("publishes with provenance, from the repository that the packages name", () => {
    const script = readFileSync(join(ROOT, "scripts", "release", "publish.mjs"), "utf8");
    expect(script).toContain('"--provenance"');
    for (const folder of ["packages/core", ...SERVERS.map((name) => `servers/${name}`)]) {
      const { repository } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
      expect(repository).toEqual({
        type: "git",
        url: "git+https://github.com/refmcp/refmcp.git",
        directory: folder,
      });
    }
  });
});

it("CI runs what a clone runs", () => {
  expect(runsOf(read("ci.yml").jobs["test"])).toContain(".ci/run");
  const steps = readFileSync(join(ROOT, ".ci", "run"), "utf8");
  for (const step of ["node scripts/check.mjs", "npm test", "npm run test:all"])
    expect(steps.split("\n")).toContain(step);
});
