import { randomOf } from "@refmcp/testing";
import { expect, it } from "vitest";
import { at, emptyRepository, gitWith, place, useTestDirectory } from "./fixture.ts";

useTestDirectory();

/** A history of commits that change, add, rename and delete lines and files, in ways that often conflict. */
function history(root: string, random: (below: number) => number): string[] {
  const { git, commit: add } = at(emptyRepository(root));
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  const files = new Map([0, 1, 2].map((index) => [`f${index}.txt`, [...lines]]));
  const commit = (message: string) => {
    const texts = [...files].map(([path, text]) => [path, `${text.join("\n")}\n`]);
    return add(message, Object.fromEntries(texts));
  };
  commit("Base");
  return Array.from({ length: 6 }, (_, index) => {
    const paths = [...files.keys()];
    const path = paths[random(paths.length)] ?? "";
    const text = files.get(path) ?? [];
    const what = random(16);
    if (what === 0) {
      files.delete(path);
      git("mv", path, `moved-${index}.txt`);
      files.set(`moved-${index}.txt`, text);
    } else if (what === 1) files.set(`new-${index}.txt`, [`new ${index}`]);
    else if (what === 2) text.splice(random(4) === 0 ? random(text.length) : 38, 1);
    else text[random(6) === 0 ? random(text.length) : index * 6] = `changed by ${index}`;
    return commit(`Commit ${index}\n\nBody ${index}`);
  });
}

it("a plan gives the tree that git rebase -i gives, or stops at the same conflicts, for random histories", async () => {
  const outcomes = { same: 0, stopped: 0 };
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomOf(seed);
    const { root, call, git, id, write } = at(place.path(`repo-${seed}`));
    const order = history(root, random);
    const places = random(3) === 0 ? [] : order.map((oid) => ({ oid, at: random(1_000) }));
    const mixed = places.sort((a, b) => a.at - b.at).map(({ oid }) => oid);
    const steps = (mixed.length === 0 ? order : mixed).map((commit, index) => ({
      commit,
      action: ["pick", "pick", "squash", "fixup", "drop"][index === 0 ? 0 : random(5)] ?? "pick",
    }));
    write(".git/todo", steps.map(({ action, commit }) => `${action} ${commit}\n`).join(""));
    const { data } = await call("git_rebase", { steps });
    const before = id("HEAD");
    const editors = { GIT_SEQUENCE_EDITOR: `cp "${root}/.git/todo"`, GIT_EDITOR: "true" };
    let rebased = true;
    try {
      gitWith(root, editors, "rebase", "--quiet", "--empty=keep", "-i", `${order[0]}^`);
    } catch {
      rebased = false;
    }
    if (rebased) {
      expect(data.conflicted, `seed ${seed}`).toBeUndefined();
      expect(id(`${data.after}^{tree}`), `seed ${seed}`).toBe(id("HEAD^{tree}"));
      git("reset", "--quiet", "--hard", before);
      await call("git_rebase", data.plan === undefined ? { steps } : { apply: data.plan });
      expect(id("HEAD"), `seed ${seed}`).toBe(data.after);
      expect(git("status", "--porcelain", "--untracked-files=no"), `seed ${seed}`).toBe("");
      outcomes.same += 1;
    } else {
      const names = git("diff", "--name-only", "--diff-filter=U").trim().split("\n");
      expect(data.conflicted, `seed ${seed}`).toEqual(names);
      outcomes.stopped += 1;
    }
  }
  expect(outcomes.same).toBeGreaterThan(10);
  expect(outcomes.stopped).toBeGreaterThan(2);
});
