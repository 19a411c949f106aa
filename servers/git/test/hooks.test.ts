import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type Connected, type ConnectOptions, connectInMemory, fakeCall } from "@refmcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { server } from "../src/server.ts";
import {
  callTool,
  commitFiles,
  failureOf,
  git,
  gitOver,
  sampleRepository,
  write,
} from "./fixture.ts";
import { serveGit } from "./http-server.ts";
import { executable } from "./traps.ts";
import { place, useTestDirectory } from "./upstream.ts";
import { ALL_TOOLS } from "./world.ts";

useTestDirectory();

let root: string;
const open: { close(): Promise<unknown> }[] = [];
beforeEach(() => {
  root = sampleRepository(place.path("repo"));
  git(root, "stash", "clear");
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** Installs a hook that leaves a mark, complains and rejects. */
function rejecting(name: string, folder = ".git/hooks"): () => boolean {
  const mark = place.path(`${name} ran`);
  const file = `${root}/${folder}/${name}`;
  mkdirSync(dirname(file), { recursive: true });
  executable(file, `touch "${mark}"\necho "error: lint failed in a.ts" >&2\nexit 1`);
  return () => existsSync(mark);
}

const head = () => git(root, "rev-parse", "HEAD").trim();
const call = (
  tool: string,
  args: object,
  recorded = fakeCall(),
  hooks: "ask" | "run" | "off" = "ask",
) => callTool(gitOver([place.folder], { hooks }), tool, { repo_path: root, ...args }, recorded);

describe.each(["legacy", "modern"] as const)(
  "a commit that a hook checks, in the %s era",
  (era) => {
    async function connect(options: ConnectOptions = {}): Promise<Connected["client"]> {
      const args = [place.folder, ...ALL_TOOLS, ...(options.args ?? [])];
      const connected = await connectInMemory(server, { era, ...options, args });
      open.push(connected);
      return connected.client;
    }
    const commit = (args: object = {}) => ({
      name: "git_commit",
      arguments: { repo_path: root, message: "Staged", ...args },
    });
    const codeOf = (result: { _meta?: Record<string, unknown> | undefined }) =>
      Object(result._meta?.["io.github.refmcp/error"]).code;

    beforeEach(() => {
      write(root, "src/app.ts", "changed\n");
      git(root, "add", "src/app.ts");
    });

    it("the user decides, whatever skip_hooks says", async () => {
      const ran = rejecting("pre-commit");
      const before = head();
      const questions: string[] = [];
      let agrees = true;
      const client = await connect({
        elicit({ message }) {
          questions.push(message);
          return agrees ? { action: "accept", content: { confirm: true } } : { action: "decline" };
        },
      });
      const failed = await client.callTool(commit({ skip_hooks: true }));
      expect(codeOf(failed)).toBe("hook_failed");
      expect(JSON.stringify(failed.content)).toContain("lint failed in a.ts");
      expect(ran()).toBe(true);
      expect(head()).toBe(before);
      agrees = false;
      const done = await client.callTool(commit());
      expect(done.structuredContent).toMatchObject({
        notes: ["Did not run the hooks pre-commit: the user declined."],
      });
      expect(questions).toHaveLength(2);
    });

    // Only the question depends on the revision of the protocol.
    if (era === "legacy") return;

    it.each(["pre-commit", "prepare-commit-msg", "commit-msg"])(
      "hooks do not run if the user is not asked, and %s is not skipped either",
      async (name) => {
        const ran = rejecting(name);
        const before = head();
        for (const args of [[], ["--confirm", "never"]]) {
          const client = await connect({ args });
          const refused = await client.callTool(commit());
          expect(refused.isError).toBe(true);
          expect(codeOf(refused)).toBe("hook_needed");
          expect(JSON.stringify(refused.content)).toMatch(
            new RegExp(`${name} .*--hooks run.*skip_hooks: true`, "s"),
          );
          expect(head()).toBe(before);
          const done = await client.callTool(commit({ skip_hooks: true, allow_empty: true }));
          expect(done.structuredContent).toMatchObject({
            notes: [`Did not run the hooks ${name}: skip_hooks.`],
          });
          git(root, "reset", "--soft", before);
        }
        expect(ran()).toBe(false);
      },
    );

    it("with --hooks run or off nobody is asked", async () => {
      const ran = rejecting("commit-msg");
      const off = await connect({ args: ["--hooks", "off"] });
      const done = await off.callTool(commit());
      expect(done.structuredContent).toMatchObject({
        notes: ["Did not run the hooks commit-msg: --hooks off."],
      });
      expect(ran()).toBe(false);
      const trusting = await connect({ args: ["--hooks", "run"] });
      const failed = await trusting.callTool(commit({ allow_empty: true, skip_hooks: true }));
      expect(codeOf(failed)).toBe("hook_failed");
      expect(ran()).toBe(true);
    });
  },
);

describe("every tool that would run a hook that checks", () => {
  const cases: [tool: string, hook: string, args: object][] = [
    ["git_merge", "pre-merge-commit", { revision: "feature" }],
    ["git_merge", "commit-msg", { revision: "feature" }],
    ["git_cherry_pick", "prepare-commit-msg", { commits: ["feature"] }],
    ["git_revert", "prepare-commit-msg", { commit: "HEAD" }],
    ["git_rebase", "pre-rebase", { onto: "feature", on_conflict: "keep" }],
    ["git_rebase", "prepare-commit-msg", { onto: "feature", on_conflict: "keep" }],
  ];

  it.each(cases)(
    "%s refuses %s, runs it if the user agrees, and goes past it on request",
    async (tool, hook, args) => {
      const before = head();
      const ran = rejecting(hook);
      // git_rebase asks first whether commits may be rewritten.
      const unasked = () =>
        Object.assign(fakeCall(), { confirm: (question: string) => confirm(question) });
      const confirm = (question: string) =>
        question.startsWith("Rebase") ? Promise.resolve() : fakeCall().confirm(question);
      const refused = await failureOf(call(tool, args, unasked()));
      expect(refused).toMatchObject({
        code: "hook_needed",
        message: expect.stringContaining(hook),
      });
      expect(ran()).toBe(false);
      const failed = await failureOf(call(tool, args, fakeCall({ agrees: true })));
      expect(failed.code).toBe("hook_failed");
      expect(failed.message).toContain("error: lint failed in a.ts");
      expect(ran()).toBe(true);
      expect([head(), git(root, "status", "--porcelain")]).toEqual([before, ""]);
      expect((await call("git_status", {})).data.operation).toBeUndefined();
      const { data } = await call(tool, { ...args, skip_hooks: true }, unasked());
      expect(data.notes).toEqual([`Did not run the hooks ${hook}: skip_hooks.`]);
      expect(head()).not.toBe(before);
    },
  );

  it("a fast-forward calls none of them", async () => {
    rejecting("pre-merge-commit");
    git(root, "reset", "--quiet", "--hard", "v0.9");
    const { data } = await call("git_merge", { revision: "feature" });
    expect(data).toMatchObject({ fast_forward: true });
    expect(data.notes).toBeUndefined();
  });

  it("a push, with and without force", async () => {
    const bare = place.path("served", "x.git");
    git(place.folder, "clone", "--quiet", "--bare", root, bare);
    git(bare, "config", "http.receivepack", "true");
    const web = await serveGit(place.path("served"));
    open.push(web);
    git(root, "remote", "set-url", "origin", `${web.url}/x.git`);
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD");
    commitFiles(root, "New", { "new.txt": "new\n" });
    const remote = () => git(bare, "rev-parse", "main").trim();
    const before = remote();
    const ran = rejecting("pre-push");
    const options = { protocols: ["http"], allowedHosts: ["127.0.0.1"] };
    const push = (tool: string, args: object, agrees?: boolean) => {
      const asked = agrees === undefined ? fakeCall() : fakeCall({ agrees });
      const confirm = asked.confirm.bind(asked);
      const recorded = Object.assign(asked, {
        confirm: (question: string) =>
          question.startsWith("Replace") ? Promise.resolve() : confirm(question),
      });
      return callTool(
        gitOver([place.folder], options),
        tool,
        { repo_path: root, ...args },
        recorded,
      );
    };
    for (const tool of ["git_push", "git_push_force_with_lease"]) {
      expect((await failureOf(push(tool, {}))).code).toBe("hook_needed");
      expect(ran()).toBe(false);
    }
    for (const tool of ["git_push", "git_push_force_with_lease"])
      expect(await failureOf(push(tool, {}, true))).toMatchObject({
        code: "hook_failed",
        message: expect.stringContaining("lint failed in a.ts"),
      });
    expect(remote()).toBe(before);
    const { data } = await push("git_push", { skip_hooks: true });
    expect(data.notes).toEqual(["Did not run the hooks pre-push: skip_hooks."]);
    expect(remote()).toBe(head());
    git(root, "reset", "--quiet", "--hard", before);
    expect((await push("git_push_force_with_lease", { skip_hooks: true })).data.notes).toHaveLength(
      1,
    );
    expect(remote()).toBe(before);
  });
});

it("a hook can use patterns of paths, and the files of a commit stay literal", async () => {
  const file = `${root}/.git/hooks/pre-commit`;
  mkdirSync(dirname(file), { recursive: true });
  executable(
    file,
    "git diff --cached --name-only -- '*.env'; test -z \"$(git diff --cached --name-only -- '*.env')\"",
  );
  write(root, "deep/secret.env", "password\n");
  write(root, "*.ts", "literal\n");
  write(root, "src/app.ts", "changed\n");
  const refused = await failureOf(
    call("git_commit", { message: "Secret", files: ["deep/secret.env"] }, undefined, "run"),
  );
  expect(refused).toMatchObject({
    code: "hook_failed",
    message: expect.stringContaining("secret.env"),
  });
  git(root, "reset", "--quiet");
  await call("git_commit", { message: "One file", files: ["*.ts"] }, undefined, "run");
  expect(git(root, "show", "--name-only", "--format=").trim()).toBe("*.ts");
});
