import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectStdio } from "@refmcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  callTool,
  commitFiles,
  emptyRepository,
  git,
  gitOver,
  gitWith,
  randomOf,
  type Scratch,
  scratch,
} from "./fixture.ts";
import { ALL_TOOLS } from "./world.ts";

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.dispose());

/** A history of commits that change, add, rename and delete lines and files, in ways that often conflict. */
function history(root: string, random: (below: number) => number): string[] {
  emptyRepository(root);
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  const files = new Map([0, 1, 2].map((index) => [`f${index}.txt`, [...lines]]));
  const commit = (message: string) =>
    commitFiles(
      root,
      message,
      Object.fromEntries([...files].map(([path, text]) => [path, `${text.join("\n")}\n`])),
    );
  commit("Base");
  return Array.from({ length: 6 }, (_, index) => {
    const paths = [...files.keys()];
    const path = paths[random(paths.length)] ?? "";
    const text = files.get(path) ?? [];
    const what = random(16);
    if (what === 0) {
      files.delete(path);
      git(root, "mv", path, `moved-${index}.txt`);
      files.set(`moved-${index}.txt`, text);
    } else if (what === 1) files.set(`new-${index}.txt`, [`new ${index}`]);
    else if (what === 2) text.splice(random(4) === 0 ? random(text.length) : 38, 1);
    else text[random(6) === 0 ? random(text.length) : index * 6] = `changed by ${index}`;
    return commit(`Commit ${index}\n\nBody ${index}`);
  });
}

describe("a plan", () => {
  it("gives the tree that git rebase -i gives, or stops at the same conflicts, for random histories", async () => {
    const outcomes = { same: 0, stopped: 0 };
    for (let seed = 1; seed <= 30; seed++) {
      const random = randomOf(seed);
      const root = place.path(`repo-${seed}`);
      const order = history(root, random);
      const mixed =
        random(3) === 0
          ? order
          : order
              .map((oid) => ({ oid, at: random(1_000) }))
              .sort((a, b) => a.at - b.at)
              .map(({ oid }) => oid);
      const steps = mixed.map((commit, index) => ({
        commit,
        action: ["pick", "pick", "squash", "fixup", "drop"][index === 0 ? 0 : random(5)] ?? "pick",
      }));
      const todo = join(root, ".git", "todo");
      writeFileSync(todo, steps.map(({ action, commit }) => `${action} ${commit}\n`).join(""));
      const over = gitOver([root]);
      const { data } = await callTool(over, "git_rebase", { repo_path: root, steps });
      const before = git(root, "rev-parse", "HEAD").trim();
      const editors = { GIT_SEQUENCE_EDITOR: `cp "${todo}"`, GIT_EDITOR: "true" };
      let rebased = true;
      try {
        gitWith(root, editors, "rebase", "--quiet", "--empty=keep", "-i", `${order[0]}^`);
      } catch {
        rebased = false;
      }
      if (rebased) {
        expect(data.conflicted, `seed ${seed}`).toBeUndefined();
        expect(git(root, "rev-parse", `${data.after}^{tree}`), `seed ${seed}`).toBe(
          git(root, "rev-parse", "HEAD^{tree}"),
        );
        git(root, "reset", "--quiet", "--hard", before);
        await callTool(
          over,
          "git_rebase",
          data.plan === undefined
            ? { repo_path: root, steps }
            : { repo_path: root, apply: data.plan },
        );
        expect(git(root, "rev-parse", "HEAD").trim(), `seed ${seed}`).toBe(data.after);
        expect(git(root, "status", "--porcelain", "--untracked-files=no"), `seed ${seed}`).toBe("");
        outcomes.same += 1;
      } else {
        const names = git(root, "diff", "--name-only", "--diff-filter=U").trim().split("\n");
        expect(data.conflicted, `seed ${seed}`).toEqual(names);
        outcomes.stopped += 1;
      }
    }
    expect(outcomes.same).toBeGreaterThan(10);
    expect(outcomes.stopped).toBeGreaterThan(2);
  });
});

describe("a killed server", () => {
  it("leaves the branch, index and files as before or after a plan, without a lock", async () => {
    const root = emptyRepository(place.path("repo"));
    const files = (text: string) =>
      Object.fromEntries(
        Array.from({ length: 300 }, (_, index) => [
          `d${index % 7}/f${index}.txt`,
          `${text} ${index}\n`,
        ]),
      );
    commitFiles(root, "Base", files("base"));
    commitFiles(root, "One", files("one"));
    commitFiles(root, "Two", { "two.txt": "two\n" });
    const before = git(root, "rev-parse", "HEAD").trim();
    const moved = { before: 0, after: 0 };
    for (let round = 0; round < 10; round++) {
      git(root, "reset", "--quiet", "--hard", before);
      const server = await connectStdio(join(import.meta.dirname, "../dist/bin.js"), {
        args: [root, ...ALL_TOOLS],
      });
      const call = (args: object) =>
        server.client.callTool({ name: "git_rebase", arguments: { ...args } });
      const { structuredContent } = await call({
        steps: [
          { commit: "HEAD~1", action: "drop" },
          { commit: "HEAD", action: "pick" },
        ],
      });
      const { plan, after } = z
        .object({ plan: z.string(), after: z.string() })
        .parse(structuredContent);
      const applied = call({ apply: plan }).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, round * 12));
      process.kill(server.pid ?? 0, "SIGKILL");
      await applied;
      await server.close().catch(() => undefined);
      // git may still be at work; it has its own process group.
      await expect.poll(() => locks(join(root, ".git"))).toEqual([]);
      await expect.poll(() => git(root, "status", "--porcelain")).toBe("");
      const now = git(root, "rev-parse", "HEAD").trim();
      expect([before, after]).toContain(now);
      expect(git(root, "worktree", "list").trim().split("\n")).toHaveLength(1);
      expect(readFileSync(join(root, "d0/f0.txt"), "utf8")).toBe(
        now === before ? "one 0\n" : "base 0\n",
      );
      expect(existsSync(join(root, "two.txt"))).toBe(true);
      moved[now === before ? "before" : "after"] += 1;
    }
    expect(moved.before + moved.after).toBe(10);
  });
});

function locks(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".lock"),
  );
}
