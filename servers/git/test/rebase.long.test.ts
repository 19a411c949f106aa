import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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
