import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { PUBLISHED, ROOT, SERVERS } from "../servers.ts";

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
      permissions: permissions.optional(),
      env: z.record(z.string(), z.string()).optional(),
      concurrency: z.string().optional(),
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
    const build = runsOf(jobs["build"]);
    expect(build.indexOf(".ci/run --all")).toBeGreaterThan(0);
    expect(build.indexOf("artifacts.mjs")).toBeGreaterThan(build.indexOf(".ci/run"));
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
    expect(build).toContain(
      'docker build --file "$' + '{server}Dockerfile" --tag "$IMAGES/server-',
    );
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

it("CI runs what a clone runs", () => {
  expect(runsOf(read("ci.yml").jobs["test"])).toContain(".ci/run");
  const steps = readFileSync(join(ROOT, ".ci", "run"), "utf8");
  for (const step of ["node scripts/check.mjs", "npm test", "npm run test:all"])
    expect(steps.split("\n")).toContain(step);
});

it("the version pull request gets CI, which GitHub does not start for it", () => {
  const { jobs } = read("version.yml");
  expect(jobs["version"]?.permissions?.["actions"]).toBe("write");
  expect(runsOf(jobs["version"])).toContain("gh workflow run ci.yml --ref changeset-release/main");
  expect(read("ci.yml").on).toHaveProperty("workflow_dispatch");
});
