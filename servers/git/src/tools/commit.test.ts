import { appendFileSync, chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");

/** Installs a hook that leaves a mark, and ends with `code`. */
function hook(name: string, code = 0): string {
  const { root } = sample();
  const mark = join(root, ".git", `${name}-ran`);
  mkdirSync(join(root, ".git", "hooks"), { recursive: true });
  const file = join(root, ".git", "hooks", name);
  writeFileSync(file, `#!/bin/sh\ntouch "${mark}"\necho "no tabs please" >&2\nexit ${code}\n`);
  chmodSync(file, 0o755);
  return mark;
}

describe("git_commit", () => {
  it("commits the staged changes, and reports them", async () => {
    const { call, git } = sample();
    const before = git("rev-parse", "HEAD").trim();
    const { data } = await call("git_commit", { message: "Set x\n\n# kept\n" });
    const head = git("rev-parse", "HEAD").trim();
    const summary = "1 file changed, 1 insertion(+), 1 deletion(-)";
    expect(data).toEqual({ commit: head, branch: "main", before, summary });
    expect(git("log", "-1", "--format=%B").trim()).toBe("Set x\n\n# kept");
    expect(git("log", "-1", "--format=%an <%ae>").trim()).toBe("Test <test@example.org>");
  });

  it("commits only the named files, including new ones", async () => {
    const { call, git } = sample();
    await call("git_commit", {
      message: "Notes",
      files: ["notes.txt"],
      author: "Ada <ada@example.org>",
    });
    expect(git("show", "--name-only", "--format=%an").trim()).toBe("Ada\n\nnotes.txt");
    expect(git("diff", "--cached", "--name-only").trim()).toBe("src/util.ts");
  });

  it("amends", async () => {
    const { call, git } = sample();
    const parent = git("rev-parse", "HEAD~1").trim();
    await call("git_commit", { message: "Our line, again", amend: true });
    expect(git("rev-parse", "HEAD~1").trim()).toBe(parent);
    expect(git("show", "--name-only", "--format=").trim()).toBe("src/app.ts\nsrc/util.ts");
  });

  it("creates an empty commit only on request", async () => {
    const { call, git } = sample();
    git("reset", "--quiet");
    const error = await failureOf(call("git_commit", { message: "Nothing" }));
    expect(error).toMatchObject({ kind: "conflict", code: "nothing_to_commit" });
    await call("git_commit", { message: "Nothing", allow_empty: true });
    expect(git("log", "-1", "--format=%s").trim()).toBe("Nothing");
  });

  it("refuses an empty message, an invalid author, and unresolved conflicts", async () => {
    const { call, git } = sample();
    expect((await failureOf(call("git_commit", { message: " \n" }))).code).toBe("bad_message");
    expect((await failureOf(call("git_commit", { message: "x", author: "--amend" }))).code).toBe(
      "bad_author",
    );
    git("reset", "--quiet", "--hard");
    expect(() => git("merge", "conflicting")).toThrow();
    expect(await failureOf(call("git_commit", { message: "x" }))).toMatchObject({
      code: "conflict",
    });
  });

  it("concludes a merge", async () => {
    const { call, git, write } = sample();
    git("reset", "--quiet", "--hard");
    expect(() => git("merge", "conflicting")).toThrow();
    write("src/app.ts", "resolved\n");
    await call("git_add", { files: ["src/app.ts"] });
    await call("git_commit", { message: "Merged" });
    expect(git("rev-list", "--parents", "-1", "HEAD").trim().split(" ")).toHaveLength(3);
  });

  it("explains that the identity is missing", async () => {
    const { call, place } = sample();
    writeFileSync(join(place.home, ".gitconfig"), "[user]\n\tuseConfigOnly = true\n");
    expect((await failureOf(call("git_commit", { message: "x" }))).code).toBe("identity_missing");
  });

  it("asks before running hooks, runs them if the user agrees, and reports it", async () => {
    const mark = hook("pre-commit");
    const asked = fakeCall({ agrees: true });
    const { data } = await sample().call("git_commit", { message: "x" }, asked);
    expect(asked.questions[0]).toContain("pre-commit");
    expect(existsSync(mark)).toBe(true);
    expect(data.notes).toEqual(["Ran the hooks pre-commit."]);
  });

  it("skips hooks, with a note, if the user declines", async () => {
    const mark = hook("pre-commit", 1);
    const { data } = await sample().call(
      "git_commit",
      { message: "x" },
      fakeCall({ agrees: false }),
    );
    expect(existsSync(mark)).toBe(false);
    expect(data.notes).toEqual(["Did not run the hooks pre-commit: the user declined."]);
  });

  it("reports a hook that rejects the commit, with its output marked as such", async () => {
    hook("pre-commit", 1);
    const { call, git } = sample();
    const before = git("rev-parse", "HEAD");
    const error = await failureOf(call("git_commit", { message: "x" }));
    expect(error).toMatchObject({ kind: "denied", code: "hook_failed" });
    expect(error.message).toContain("no tabs please");
    expect(git("rev-parse", "HEAD")).toBe(before);
  });

  it("signs if the user's configuration says so, not if the repository's does", async () => {
    const { call, git, place, root } = sample();
    const signer = `${place.home}/gpg.sh`;
    writeFileSync(
      signer,
      '#!/bin/sh\ncat >/dev/null\necho "[GNUPG:] SIG_CREATED x" >&2\necho signature\n',
      {
        mode: 0o755,
      },
    );
    git("config", "commit.gpgSign", "true");
    await call("git_commit", { message: "By the repository" });
    expect(git("cat-file", "commit", "HEAD")).not.toContain("gpgsig");
    const own = `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${signer}\n[user]\n\tsigningKey = x\n`;
    appendFileSync(`${place.home}/.gitconfig`, own);
    writeFileSync(`${root}/README.md`, "signed\n");
    await call("git_commit", { message: "By the user", files: ["README.md"] });
    expect(git("cat-file", "commit", "HEAD")).toContain("gpgsig");
  });
});
