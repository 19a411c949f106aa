import { ToolError } from "@refmcp/boundary/answer";

/** The git commands of tools whose names differ from them. */
const COMMANDS: Readonly<Record<string, string>> = {
  git_create_branch: "git branch",
  git_create_tag: "git tag",
  git_delete_branch: "git branch -D",
  git_delete_tag: "git tag -d",
  git_diff_staged: "git diff --staged",
  git_diff_unstaged: "git diff",
  git_drop_stash: "git stash drop",
  git_list_files: "git ls-files",
  git_list_refs: "git for-each-ref",
  git_push_force_with_lease: "git push --force-with-lease",
  git_rename_branch: "git branch -m",
  git_reset_hard: "git reset --hard",
  git_set_remote: "git remote set-url",
  git_stash_apply: "git stash apply",
  git_worktree_add: "git worktree add",
  git_worktree_remove: "git worktree remove",
};

/** Whether a tool is offered; true for names that are not tools. */
export type Offers = (tool: string) => boolean;

/** A hint with terminal commands instead of tools that are not offered. */
function withOffered(text: string, offers: Offers): string {
  const replaced = text.replaceAll(/\bgit_[a-z_]+\b/g, (name) =>
    offers(name) ? name : (COMMANDS[name] ?? name.replace("_", " ").replaceAll("_", "-")),
  );
  return replaced === text ? text : `${replaced.replace(/\.$/, "")} (in a terminal).`;
}

/** Runs some work. The hint of its error and the `undo` of its answer mention only tools that are offered. */
export async function inOffered<Value>(offers: Offers, work: () => Promise<Value>): Promise<Value> {
  try {
    const value = await work();
    if (typeof value === "object" && value !== null && "undo" in value && typeof value.undo === "string")
      return { ...value, undo: withOffered(value.undo, offers) };
    return value;
  } catch (error) {
    if (!(error instanceof ToolError) || error.hint === undefined) throw error;
    const { kind, message, code, data, cause } = error;
    throw new ToolError(kind, message, { hint: withOffered(error.hint, offers), code, data, cause });
  }
}
