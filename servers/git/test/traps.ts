import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commitFiles, emptyRepository, git, write } from "./fixture.ts";

const HOOKS = `
  pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit post-merge post-checkout
  pre-push pre-rebase post-rewrite post-index-change reference-transaction applypatch-msg
  pre-applypatch post-applypatch pre-auto-gc pre-receive update post-receive post-update
  push-to-checkout sendemail-validate fsmonitor-watchman proc-receive
`;

/** Writes the program that logs its execution; it copies its input or file, like filters and converters. */
export function canary(folder: string): { program: string; log: string } {
  const log = join(folder, "canary.log");
  const script = `echo "$0 $*" >> "${log}"\nif [ -f "$1" ]; then cat "$1"; fi\nexit 0`;
  return { program: executable(join(folder, "canary.sh"), script), log };
}

/** Writes an executable shell script and returns its path. */
export function executable(path: string, script: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Sets keys of the repository's own configuration. */
export function set(
  root: string,
  ...pairs: readonly (readonly [key: string, value: string])[]
): void {
  // Of most keys the last value counts. Of several URLs it is the first, so git replaces those.
  const isUrl = ([key]: readonly [string, string]) => /^remote\..*\.url$/.test(key);
  appendFileSync(join(root, ".git", "config"), configText(pairs.filter((pair) => !isUrl(pair))));
  for (const [key, value] of pairs.filter(isUrl)) git(root, "config", "--local", key, value);
}

/** Lines of a configuration file that set these keys; writing them needs no process. */
export function configText(pairs: readonly (readonly [key: string, value: string])[]): string {
  const quote = (text: string) => `"${text.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
  return pairs
    .map(([key, value]) => {
      const [, section = "", subsection, name = ""] =
        /^([^.]+)(?:\.(.*))?\.([^.]+)$/s.exec(key) ?? [];
      const header = subsection === undefined ? section : `${section} ${quote(subsection)}`;
      return `[${header}]\n\t${name} = ${quote(value)}\n`;
    })
    .join("");
}

/** Writes a hook of every kind that runs the program. */
export function hooksInto(folder: string, program: string): void {
  for (const hook of HOOKS.trim().split(/\s+/))
    executable(join(folder, hook), `exec "${program}" "$@"`);
}

/** A partially fetched commit: its tree names a missing blob. */
export function missingBlob(root: string): void {
  const input = "100644 blob 1234567890123456789012345678901234567890\tgone.txt\n";
  const tree = execFileSync("git", ["mktree", "--missing"], { cwd: root, input }).toString().trim();
  const commit = git(root, "commit-tree", "-m", "Partial", tree).trim();
  git(root, "update-ref", "refs/heads/partial", commit);
}

/** Configuration of a partial clone whose missing objects come from a URL. */
export const promisor = (name: string, url: string): readonly (readonly [string, string])[] => [
  ["core.repositoryFormatVersion", "1"],
  [`remote.${name}.url`, url],
  [`remote.${name}.promisor`, "true"],
  [`remote.${name}.partialCloneFilter`, "blob:none"],
];

/** A sibling repository whose objects it borrows. */
export function alternate(root: string): void {
  const spare = emptyRepository(join(root, "..", "spare"));
  commitFiles(spare, "Spare", { "spare.txt": "spare\n" });
  write(root, ".git/objects/info/alternates", "../../../spare/.git/objects\n");
}

/** A checked-out submodule with a change. */
export function submodule(root: string): void {
  const inner = emptyRepository(join(root, "sub"));
  commitFiles(inner, "Inner", { "in.c": "inner\n", ".gitattributes": "*.c filter=inner\n" }, 2);
  const modules = join(root, ".git", "modules");
  mkdirSync(modules, { recursive: true });
  renameSync(join(inner, ".git"), join(modules, "sub"));
  writeFileSync(join(inner, ".git"), "gitdir: ../.git/modules/sub\n");
  appendFileSync(join(modules, "sub", "config"), configText([["core.worktree", "../../../sub"]]));
  // ignore = none makes git always examine it.
  write(root, ".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n');
  git(root, "add", "sub", ".gitmodules");
  git(root, "commit", "--quiet", "-m", "Submodule");
  // The same length as before: git has to read it, through the filters, to see the change.
  write(inner, "in.c", "INNER\n");
}
