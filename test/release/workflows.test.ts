import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { PUBLISHED, ROOT, SERVERS } from "../servers.ts";
import { filesOf } from "../structure/layout.ts";

const TESTS = ["packages", "servers", "test"]
  .flatMap((group) => filesOf(join(ROOT, group)).map((file) => `${group}/${file}`))
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), "utf8") }));
/** The packages with long tests. */
const LONG = TESTS.filter(
  ({ file, text }) =>
    /(\.long|contract)\.test\.ts$/.test(file) || /from ".*vitest\.long\.ts"/.test(text),
).map(({ file }) => /^(test|[^/]+\/[^/]+)\//.exec(file)?.[1] ?? file);
const FOLDER = join(ROOT, ".github", "workflows");
const permissions = z.record(z.string(), z.enum(["read", "write", "none"]));
const workflow = z.object({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions,
  jobs: z.record(
    z.string(),
    z.object({
      needs: z.union([z.string(), z.array(z.string())]).optional(),
      "timeout-minutes": z.number(),
      strategy: z.object({ matrix: z.record(z.string(), z.array(z.unknown())) }).optional(),
      if: z.unknown().optional(),
      "continue-on-error": z.boolean().optional(),
      permissions: permissions.optional(),
      env: z.record(z.string(), z.string()).optional(),
      concurrency: z.string().optional(),
      steps: z.array(
        z.object({
          uses: z.string().optional(),
          run: z.string().optional(),
          if: z.unknown().optional(),
          "continue-on-error": z.unknown().optional(),
          with: z.record(z.string(), z.unknown()).optional(),
        }),
      ),
    }),
  ),
});
const read = (file: string) => workflow.parse(parse(readFileSync(join(FOLDER, file), "utf8")));
const runsOf = (job: z.output<typeof workflow>["jobs"][string] | undefined) =>
  (job?.steps ?? []).map(({ run = "" }) => run).join("\n");

/** What could keep a job from running, or from failing. */
const conditionsOf = (job: z.output<typeof workflow>["jobs"][string] | undefined) =>
  [job, ...(job?.steps ?? [])].flatMap((part) =>
    [part?.if, part?.["continue-on-error"]].filter((value) => value !== undefined),
  );
const manifestOf = (folder: string): { readonly scripts?: Readonly<Record<string, string>> } =>
  JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));

describe.each(readdirSync(FOLDER))("the workflow %s", (file) => {
  it("runs existing scripts, pins each action to a commit, and stores no secret", () => {
    for (const job of Object.values(read(file).jobs)) {
      for (const [path] of runsOf(job).matchAll(/(?:scripts|\.ci)\/[\w./-]+/g))
        expect(existsSync(join(ROOT, path)), path).toBe(true);
      for (const { uses } of job.steps)
        if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$/);
    }
    const text = readFileSync(join(FOLDER, file), "utf8");
    expect(text).not.toContain("secrets.");
    // For people and for Dependabot, which keeps the comment current.
    expect(text.match(/uses: .*/g)).toEqual(text.match(/uses: \S+ # v\d+\.\d+\.\d+.*/g));
  });
});

describe("the release", () => {
  const { on, jobs, permissions: permissionsOfAll } = read("release.yml");

  it("begins with a tag, and publishes only after all tests have passed", () => {
    expect(on).toEqual({ push: { tags: ["v*"] } });
    const build = runsOf(jobs["build"]).split("\n");
    const [gate, all, artifacts] = [
      build.indexOf(".ci/run"),
      build.indexOf("npm run test:all"),
      build.findIndex((line) => line.includes("artifacts.mjs")),
    ];
    expect(gate).toBeGreaterThan(0);
    expect(all).toBeGreaterThan(gate);
    expect(artifacts).toBeGreaterThan(all);
    expect(conditionsOf(jobs["build"])).toEqual([]);
    expect(jobs["npm"]?.needs).toBe("build");
    expect(jobs["images"]?.needs).toBe("build");
    expect(jobs["ghcr"]?.needs).toEqual(["images", "npm"]);
    expect([jobs["registry"]?.needs, jobs["github"]?.needs]).toEqual(["ghcr", "npm"]);
  });

  it("may sign and write only where it publishes", () => {
    const granted = Object.entries(jobs).map(([name, job]) => [
      name,
      job.permissions ?? permissionsOfAll,
    ]);
    expect(Object.fromEntries(granted)).toEqual({
      build: { contents: "read" },
      npm: { "id-token": "write" },
      images: { contents: "read" },
      ghcr: { packages: "write" },
      registry: { "id-token": "write" },
      github: { contents: "write" },
    });
    expect(runsOf(jobs["registry"])).toMatch(/mcp-publisher" validate && .*mcp-publisher" publish/);
  });

  it("checks out and installs nothing where it may sign or write", () => {
    for (const name of ["npm", "ghcr", "registry", "github"]) {
      const steps = jobs[name]?.steps ?? [];
      expect(steps.map(({ uses = "" }) => uses).join(" "), name).not.toContain("checkout");
      expect(runsOf(jobs[name]), name).not.toMatch(
        /npm (install|ci|start|test)|npx|pnpm|scripts\/|apt-get|sudo/,
      );
    }
    expect(runsOf(jobs["npm"]).trim()).toBe("node release/publish.mjs release");
    const script = readFileSync(join(ROOT, "scripts", "release", "publish.mjs"), "utf8");
    for (const [, module] of script.matchAll(/from "(.*)"/g)) expect(module).toMatch(/^node:/);
  });

  it("builds every image for two architectures, and pushes them under the name and tag in server.json", () => {
    const build = runsOf(jobs["images"]);
    expect(build).toContain('docker build --build-arg "SERVER=$name" --tag "$IMAGES/server-$name:');
    expect(build).toContain('tag="$' + '{GITHUB_REF_NAME#v}-$ARCH"');
    expect(runsOf(jobs["ghcr"])).toContain('--tag "$image"');
    for (const job of [jobs["images"], jobs["ghcr"]])
      expect(job?.env?.["IMAGES"]).toBe("ghcr.io/$" + "{{ github.repository_owner }}");
    for (const server of SERVERS) {
      const entry = JSON.parse(readFileSync(join(ROOT, "servers", server, "server.json"), "utf8"));
      expect(entry.packages[1].identifier).toBe(`ghcr.io/refmcp/server-${server}:${entry.version}`);
    }
  });

  it("verifies the one program that it downloads", () => {
    const run = runsOf(jobs["registry"]);
    expect(run).not.toContain("latest");
    expect(run.indexOf("sha256sum --check --strict")).toBeLessThan(
      run.indexOf("mcp-publisher login"),
    );
    expect(jobs["registry"]?.env).toEqual({
      MCP_PUBLISHER_VERSION: expect.stringMatching(/^v\d+\.\d+\.\d+$/),
      MCP_PUBLISHER_SHA256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it("has one job for the GitHub release, which one run at a time may change", () => {
    const touching = Object.entries(jobs).filter(([, job]) => runsOf(job).includes("gh release"));
    expect(touching.map(([name]) => name)).toEqual(["github"]);
    expect(jobs["github"]?.concurrency).toBe("release-$" + "{{ github.ref_name }}");
  });

  it("publishes with provenance, from the repository that the packages name", () => {
    const script = readFileSync(join(ROOT, "scripts", "release", "publish.mjs"), "utf8");
    expect(script).toContain('"--provenance"');
    for (const folder of PUBLISHED.keys()) {
      const { repository } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
      expect(repository).toEqual({
        type: "git",
        url: "git+https://github.com/refmcp/refmcp.git",
        directory: folder,
      });
    }
  });
});

describe("the gate", () => {
  // Nothing else: a branch on the time, the date or an argument would be green about what it did not run.
  it("runs three commands unconditionally", () => {
    const lines = readFileSync(join(ROOT, ".ci", "run"), "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(lines).toEqual([
      "set -euo pipefail",
      'cd "$(dirname "$0")/.."',
      "node scripts/check.mjs",
      "npm test",
      "npm run test:release",
    ]);
    expect(manifestOf("").scripts).toMatchObject({
      test: "node scripts/test.mjs",
      "test:all": "node scripts/test.mjs --all",
      "test:release": "node scripts/release-path.mjs",
    });
  });

  it("runs for each change, without a condition", () => {
    const { on, jobs } = read("ci.yml");
    expect(Object.keys(on).sort()).toEqual(["pull_request", "push", "workflow_dispatch"]);
    expect(runsOf(jobs["test"]).split("\n")).toContain(".ci/run");
    expect(conditionsOf(jobs["test"])).toEqual([]);
  });

  it("has a release path of tests that npm test does not have", () => {
    const folder = join(ROOT, "test", "release-path");
    const files = readdirSync(folder).filter((file) => file.endsWith(".release.ts"));
    expect(files.sort()).toEqual([
      "clients.release.ts",
      "conformance.release.ts",
      "packed.release.ts",
    ]);
    for (const file of files)
      expect(readFileSync(join(folder, file), "utf8")).not.toMatch(/\bskip|\btodo\b|\.only\b/);
  });
});

describe("the long tests", () => {
  // What `npm run test:all` runs is the script `test:long` of each package, by turbo.
  it.each([...new Set(LONG)])("of %s run in npm run test:all", (folder) => {
    expect(manifestOf(folder).scripts?.["test:long"]).toBe("vitest run --mode long");
  });

  it("import no other test file, which would import vitest.long.ts instead", () => {
    const stubs = TESTS.filter(({ text }) => /^import ".*\.test\.ts";/m.test(text));
    expect(stubs.map(({ file }) => file)).toEqual([]);
  });

  it.each(["nightly.yml", "release.yml"])("all run unconditionally in %s", (file) => {
    const running = Object.values(read(file).jobs).filter((job) =>
      runsOf(job).split("\n").includes("npm run test:all"),
    );
    expect(running).toHaveLength(1);
    expect(conditionsOf(running[0])).toEqual([]);
  });
});

it("every night the newest official suite, every other browser and Node.js version get their turn", () => {
  const { on, jobs } = read("nightly.yml");
  expect(Object.keys(on)).toContain("schedule");
  expect(runsOf(jobs["conformance"])).toContain("node scripts/conformance.mjs --newest");
  expect(runsOf(jobs["engines"])).toContain("vitest run test/engines.test.ts");
  const tested = [read("ci.yml").jobs["test"], jobs["node"]];
  for (const job of tested) expect(runsOf(job).split("\n")).toContain(".ci/run");
  const majors = tested.flatMap((job) => job?.strategy?.matrix["node"] ?? []);
  expect(majors.sort()).toEqual([20, 22, 24, 26]);
});

it("the version pull request gets CI, which GitHub does not start for it", () => {
  const { jobs } = read("version.yml");
  expect(jobs["version"]?.permissions?.["actions"]).toBe("write");
  expect(runsOf(jobs["version"])).toContain("gh workflow run ci.yml --ref changeset-release/main");
  expect(read("ci.yml").on).toHaveProperty("workflow_dispatch");
});
