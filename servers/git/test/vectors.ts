import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BEHIND_LOGIN, BORROWING, LOCKED, OVER_SSH, PARTIAL, SUBMODULE } from "./bases.ts";
import { git } from "./fixture.ts";
import type { Base } from "./matrix.ts";
import { hooksInto, promisor, set } from "./traps.ts";

/** A way in which a repository makes git execute a program. */
export interface Vector {
  readonly name: string;
  /** The tools that would run the program first; the long suite takes all tools. */
  readonly meets: readonly string[];
  /** What the harmless twin has too, for example a submodule. */
  readonly base?: Base;
  /** Sets the trap: `program` must be run by plain git. */
  plant(root: string, program: string): void;
  /** What a person does in this repository, upon which plain git runs the program. */
  readonly springs: readonly (readonly string[])[];
  /** Whether the tools that talk to the remote refuse this configuration instead. */
  readonly refusedRemote?: true;
}

export const VECTORS: readonly Vector[] = [
  {
    name: "core.fsmonitor",
    meets: ["git_status", "git_add"],
    plant: (root, program) => set(root, ["core.fsmonitor", program]),
    springs: [["status"]],
  },
  {
    name: "core.fsmonitor through include.path",
    meets: ["git_status"],
    plant(root, program) {
      writeFileSync(join(root, ".git", "more"), `[core]\n\tfsmonitor = ${program}\n`);
      set(root, ["include.path", "more"]);
    },
    springs: [["status"]],
  },
  {
    name: "core.fsmonitor in config.worktree",
    meets: ["git_status"],
    plant(root, program) {
      set(root, ["extensions.worktreeConfig", "true"]);
      writeFileSync(join(root, ".git", "config.worktree"), `[core]\n\tfsmonitor = ${program}\n`);
    },
    springs: [["status"]],
  },
  {
    name: "hooks",
    meets: ["git_commit", "git_checkout"],
    plant: (root, program) => hooksInto(join(root, ".git", "hooks"), program),
    springs: [["commit", "--allow-empty", "-m", "x"]],
  },
  {
    name: "core.hooksPath",
    meets: ["git_commit"],
    plant(root, program) {
      hooksInto(join(root, ".git", "elsewhere"), program);
      set(root, ["core.hooksPath", ".git/elsewhere"]);
    },
    springs: [["commit", "--allow-empty", "-m", "x"]],
  },
  {
    name: "diff.external",
    meets: ["git_diff", "git_show"],
    plant: (root, program) => set(root, ["diff.external", program]),
    springs: [["diff", "v0.9", "v1.0"]],
  },
  {
    name: "diff driver command",
    meets: ["git_diff"],
    plant: (root, program) => set(root, ["diff.evil.command", program]),
    springs: [["diff", "v0.9", "v1.0"]],
  },
  {
    name: "textconv",
    meets: ["git_diff", "git_grep"],
    plant: (root, program) => set(root, ["diff.evil.textconv", program]),
    springs: [["diff", "v0.9", "v1.0"]],
  },
  {
    name: "clean and smudge filter",
    meets: ["git_add", "git_restore"],
    plant: (root, program) =>
      set(
        root,
        ["filter.evil.clean", program],
        ["filter.evil.smudge", program],
        ["filter.evil.required", "true"],
      ),
    springs: [["checkout", "v0.9", "--", "src/app.ts"]],
  },
  {
    name: "filter named a=b",
    meets: ["git_add", "git_restore"],
    plant: (root, program) => set(root, ["filter.a=b.clean", program], ["filter.a=b.smudge", program]),
    springs: [["checkout", "stash@{0}", "--", "README.md"]],
  },
  {
    name: "filter process",
    meets: ["git_add", "git_restore"],
    plant: (root, program) => set(root, ["filter.piped.process", program], ["filter.evil.process", program]),
    springs: [["checkout", "v0.9", "--", "src/app.ts"]],
  },
  {
    name: "gpg.program with log.showSignature",
    meets: ["git_log", "git_merge"],
    plant: (root, program) =>
      set(root, ["gpg.program", program], ["log.showSignature", "true"], ["merge.verifySignatures", "true"]),
    springs: [["log", "-1"]],
  },
  {
    name: "gpg.program with commit.gpgSign",
    meets: ["git_commit", "git_create_tag"],
    plant: (root, program) =>
      set(
        root,
        ["gpg.program", program],
        ["commit.gpgSign", "true"],
        ["tag.gpgSign", "true"],
        ["tag.forceSignAnnotated", "true"],
        ["push.gpgSign", "true"],
        ["user.signingKey", "x"],
      ),
    springs: [["commit", "--allow-empty", "-m", "x"]],
  },
  {
    name: "gpg.ssh.defaultKeyCommand",
    meets: ["git_commit", "git_create_tag"],
    plant: (root, program) =>
      set(
        root,
        ["gpg.format", "ssh"],
        ["gpg.ssh.program", program],
        ["gpg.ssh.defaultKeyCommand", program],
        ["commit.gpgSign", "true"],
        ["tag.gpgSign", "true"],
      ),
    springs: [["commit", "--allow-empty", "-m", "x"]],
  },
  {
    name: "promisor remote with uploadpack",
    meets: ["git_show"],
    base: PARTIAL,
    plant(root, program) {
      set(root, ...promisor(root), ["remote.evil.uploadpack", program]);
    },
    springs: [["show", "partial:gone.txt"]],
  },
  {
    name: "promisor remote over ext::",
    meets: ["git_show"],
    base: PARTIAL,
    plant: (root, program) =>
      set(
        root,
        ...promisor(`ext::${program} %S`),
        ["protocol.ext.allow", "always"],
        ["protocol.allow", "always"],
      ),
    springs: [["show", "partial:gone.txt"]],
  },
  {
    name: "promisor remote with core.sshCommand",
    meets: ["git_show"],
    base: PARTIAL,
    plant: (root, program) => set(root, ...promisor("ssh://host.invalid/x"), ["core.sshCommand", program]),
    springs: [["show", "partial:gone.txt"]],
  },
  {
    name: "promisor remote with core.gitProxy",
    meets: ["git_show", "git_fetch"],
    base: PARTIAL,
    plant: (root, program) => set(root, ...promisor("git://host.invalid/x"), ["core.gitProxy", program]),
    springs: [["show", "partial:gone.txt"]],
    refusedRemote: true,
  },
  {
    name: "merge driver",
    meets: ["git_merge"],
    plant: (root, program) => set(root, ["merge.evil.driver", `${program} %A`]),
    springs: [["merge", "feature"]],
  },
  {
    name: "branch.mergeOptions",
    meets: ["git_merge"],
    plant(root, program) {
      set(root, ["branch.main.mergeOptions", "--gpg-sign --edit --strategy=ours"], ["gpg.program", program]);
      set(root, ["user.signingKey", "x"], ["core.editor", program], ["pull.twohead", "ort"]);
    },
    springs: [["merge", "--no-ff", "feature"]],
  },
  {
    name: "configuration of a submodule",
    meets: ["git_status", "git_add"],
    base: SUBMODULE,
    plant(root, program) {
      const config = ["config", "-f", ".git/modules/sub/config"];
      for (const key of ["core.fsmonitor", "filter.inner.clean", "filter.inner.process", "diff.external"])
        git(root, ...config, key, program);
      hooksInto(join(root, ".git", "modules", "sub", "hooks"), program);
      set(root, ["submodule.sub.ignore", "none"], ["submodule.recurse", "true"], ["diff.submodule", "diff"]);
      set(root, ["status.submoduleSummary", "true"], ["diff.ignoreSubmodules", "none"]);
    },
    springs: [["status"]],
  },
  {
    name: "submodule opened by .gitmodules",
    meets: ["git_status", "git_add"],
    base: SUBMODULE,
    plant(root, program) {
      for (const key of ["core.fsmonitor", "filter.inner.clean", "filter.inner.process"])
        git(root, "config", "-f", ".git/modules/sub/config", key, program);
      hooksInto(join(root, ".git", "modules", "sub", "hooks"), program);
    },
    springs: [["status"]],
  },
  {
    name: "submodule.update command",
    meets: ["git_checkout", "git_pull"],
    base: SUBMODULE,
    plant(root, program) {
      set(root, ["submodule.sub.update", `!${program}`], ["submodule.sub.active", "true"]);
      set(root, ["submodule.sub.url", "./sub"], ["submodule.recurse", "true"]);
    },
    springs: [["submodule", "update", "--init", "--force"]],
  },
  {
    name: "editor and sequence editor",
    meets: ["git_commit", "git_rebase"],
    plant: (root, program) =>
      set(root, ["core.editor", program], ["sequence.editor", program], ["commit.verbose", "true"]),
    springs: [["commit", "--amend"]],
  },
  {
    name: "pager and aliases",
    meets: ["git_status", "git_log"],
    plant: (root, program) =>
      set(
        root,
        ["core.pager", program],
        ["pager.log", program],
        ["pager.status", "true"],
        ["alias.st", `!${program}`],
        ["alias.status", `!${program}`],
        ["interactive.diffFilter", program],
      ),
    springs: [["st"]],
  },
  {
    name: "remote uploadpack, receivepack and ssh",
    meets: ["git_fetch", "git_push"],
    base: OVER_SSH,
    plant: (root, program) =>
      set(
        root,
        ["remote.origin.uploadpack", program],
        ["remote.origin.receivepack", program],
        ["core.sshCommand", program],
      ),
    springs: [["fetch", "origin"]],
  },
  {
    name: "url.insteadOf ext::",
    meets: ["git_fetch"],
    plant: (root, program) =>
      set(root, [`url.ext::${program} .insteadOf`, "http://127.0.0.1:"], ["protocol.ext.allow", "always"]),
    springs: [["fetch", "origin"]],
    refusedRemote: true,
  },
  {
    name: "core.alternateRefsCommand",
    meets: ["git_fetch"],
    base: BORROWING,
    plant: (root, program) => set(root, ["core.alternateRefsCommand", program]),
    springs: [["fetch", "origin"]],
  },
  {
    name: "remote.vcs helper",
    meets: ["git_fetch"],
    plant(root, program) {
      set(root, ["remote.origin.vcs", "ext"], ["remote.origin.url", `${program} x`]);
      set(root, ["protocol.ext.allow", "always"]);
    },
    springs: [["fetch", "origin"]],
    refusedRemote: true,
  },
  {
    name: "trailer command",
    meets: ["git_commit"],
    plant: (root, program) =>
      set(
        root,
        ["trailer.sign.command", program],
        ["trailer.sign.cmd", program],
        ["trailer.sign.key", "Signed: "],
      ),
    springs: [["commit", "--allow-empty", "-m", "x", "--trailer", "sign=y"]],
  },
  {
    name: "credential.helper",
    meets: ["git_fetch"],
    base: BEHIND_LOGIN,
    plant: (root, program) => set(root, ["credential.helper", program]),
    springs: [["fetch", "origin"]],
  },
  {
    name: "credential helper of a URL, named as a shell command",
    meets: ["git_fetch"],
    base: BEHIND_LOGIN,
    plant: (root, program) =>
      set(
        root,
        [`credential.${new URL(originOf(root)).origin}.helper`, `!${program} x`],
        ["credential.useHttpPath", "true"],
      ),
    springs: [["fetch", "origin"]],
  },
  {
    name: "core.askPass",
    meets: ["git_fetch"],
    base: LOCKED,
    plant: (root, program) => set(root, ["core.askPass", program]),
    springs: [["fetch", "origin"]],
  },
];

function originOf(root: string): string {
  return git(root, "config", "remote.origin.url").trim();
}
