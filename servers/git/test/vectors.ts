import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BEHIND_LOGIN, BORROWING, LOCKED, OVER_SSH, PARTIAL, SUBMODULE } from "./bases.ts";
import { commitFiles, git, write } from "./fixture.ts";
import type { Base } from "./matrix.ts";
import { configText, hooksInto, promisor, set } from "./traps.ts";

/** A way in which a repository makes git execute a program. */
export interface Vector {
  readonly name: string;
  /** What the harmless twin also has, for example a submodule. */
  readonly base?: Base;
  /** Sets the trap: `program` must be run by plain git. */
  plant(root: string, program: string): void;
  /** Further setup that plain git needs to trigger it. */
  setup?(root: string): void;
  /** Commands of a person in this repository that make plain git run the program. */
  readonly triggers: readonly (readonly string[])[];
  /** The first version of git that has it; older ones are not checked. */
  readonly since?: string;
  /** Whether tools that contact the remote refuse this configuration instead. */
  readonly refusedRemote?: true;
  /** Whether every tool refuses this configuration instead. */
  readonly refused?: true;
  /** Whether the tools that would need the filter refuse that instead. */
  readonly filter?: true;
}

export const VECTORS: readonly Vector[] = [
  {
    name: "core.fsmonitor",
    plant: (root, program) => set(root, ["core.fsmonitor", program]),
    triggers: [["status"]],
  },
  {
    name: "core.fsmonitor through include.path",
    refused: true,
    plant(root, program) {
      writeFileSync(join(root, ".git", "more"), `[core]\n\tfsmonitor = ${program}\n`);
      set(root, ["include.path", "more"]);
    },
    triggers: [["status"]],
  },
  {
    name: "core.fsmonitor in config.worktree",
    plant(root, program) {
      set(root, ["extensions.worktreeConfig", "true"]);
      writeFileSync(join(root, ".git", "config.worktree"), `[core]\n\tfsmonitor = ${program}\n`);
    },
    triggers: [["status"]],
  },
  {
    name: "hooks",
    plant: (root, program) => hooksInto(join(root, ".git", "hooks"), program),
    triggers: [["commit", "--allow-empty", "-m", "x"]],
  },
  {
    name: "core.hooksPath",
    plant(root, program) {
      hooksInto(join(root, ".git", "elsewhere"), program);
      set(root, ["core.hooksPath", ".git/elsewhere"]);
    },
    triggers: [["commit", "--allow-empty", "-m", "x"]],
  },
  {
    name: "diff.external",
    plant: (root, program) => set(root, ["diff.external", program]),
    triggers: [["diff", "v0.9", "v1.0"]],
  },
  {
    name: "diff driver command",
    plant: (root, program) => set(root, ["diff.evil.command", program]),
    triggers: [["diff", "v0.9", "v1.0"]],
  },
  {
    name: "textconv",
    plant: (root, program) => set(root, ["diff.evil.textconv", program]),
    triggers: [["diff", "v0.9", "v1.0"]],
  },
  {
    name: "clean and smudge filter",
    plant: (root, program) =>
      set(
        root,
        ["filter.evil.clean", program],
        ["filter.evil.smudge", program],
        ["filter.evil.required", "true"],
      ),
    filter: true,
    triggers: [["checkout", "v0.9", "--", "src/app.ts"]],
  },
  {
    name: "filter named a=b",
    plant: (root, program) =>
      set(root, ["filter.a=b.clean", program], ["filter.a=b.smudge", program]),
    filter: true,
    triggers: [["checkout", "stash@{0}", "--", "README.md"]],
  },
  {
    name: "filter process",
    plant: (root, program) =>
      set(root, ["filter.piped.process", program], ["filter.evil.process", program]),
    filter: true,
    triggers: [["checkout", "v0.9", "--", "src/app.ts"]],
  },
  {
    name: "gpg.program with log.showSignature",
    plant: (root, program) =>
      set(
        root,
        ["gpg.program", program],
        ["log.showSignature", "true"],
        ["merge.verifySignatures", "true"],
      ),
    triggers: [["log", "-1"]],
  },
  {
    name: "gpg.program with commit.gpgSign",
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
    triggers: [["commit", "--allow-empty", "-m", "x"]],
  },
  {
    name: "gpg.ssh.defaultKeyCommand",
    plant: (root, program) =>
      set(
        root,
        ["gpg.format", "ssh"],
        ["gpg.ssh.program", program],
        ["gpg.ssh.defaultKeyCommand", program],
        ["commit.gpgSign", "true"],
        ["tag.gpgSign", "true"],
      ),
    triggers: [["commit", "--allow-empty", "-m", "x"]],
  },
  {
    name: "promisor remote with uploadpack",
    base: PARTIAL,
    plant(root, program) {
      set(root, ...promisor("lender", root), ["remote.lender.uploadpack", program]);
    },
    triggers: [["show", "partial:gone.txt"]],
    refusedRemote: true,
  },
  {
    name: "promisor remote over ext::",
    base: PARTIAL,
    plant: (root, program) =>
      set(
        root,
        ...promisor("ext", `ext::${program} %S`),
        ["protocol.ext.allow", "always"],
        ["protocol.allow", "always"],
      ),
    triggers: [["show", "partial:gone.txt"]],
    refusedRemote: true,
  },
  {
    name: "promisor remote with core.sshCommand",
    base: PARTIAL,
    plant: (root, program) =>
      set(root, ...promisor("ssh", "ssh://host.invalid/x"), ["core.sshCommand", program]),
    triggers: [["show", "partial:gone.txt"]],
    refusedRemote: true,
  },
  {
    name: "promisor remote with core.gitProxy",
    base: PARTIAL,
    plant: (root, program) =>
      set(root, ...promisor("git", "git://host.invalid/x"), ["core.gitProxy", program]),
    triggers: [["show", "partial:gone.txt"]],
    refusedRemote: true,
  },
  {
    name: "merge driver",
    plant: (root, program) => set(root, ["merge.evil.driver", `${program} %A`]),
    triggers: [["merge", "feature"]],
  },
  {
    name: "branch.mergeOptions",
    plant(root, program) {
      set(
        root,
        ["branch.main.mergeOptions", "--gpg-sign --edit --strategy=ours"],
        ["gpg.program", program],
      );
      set(root, ["user.signingKey", "x"], ["core.editor", program], ["pull.twohead", "ort"]);
    },
    triggers: [["merge", "--no-ff", "feature"]],
  },
  {
    name: "configuration of a submodule",
    base: SUBMODULE,
    plant(root, program) {
      setInSubmodule(
        root,
        ["core.fsmonitor", program],
        ["filter.inner.clean", program],
        ["filter.inner.process", program],
        ["diff.external", program],
      );
      hooksInto(join(root, ".git", "modules", "sub", "hooks"), program);
      set(
        root,
        ["submodule.sub.ignore", "none"],
        ["submodule.recurse", "true"],
        ["diff.submodule", "diff"],
      );
      set(root, ["status.submoduleSummary", "true"], ["diff.ignoreSubmodules", "none"]);
    },
    triggers: [["status"]],
  },
  {
    name: "submodule opened by .gitmodules",
    base: SUBMODULE,
    plant(root, program) {
      setInSubmodule(
        root,
        ["core.fsmonitor", program],
        ["filter.inner.clean", program],
        ["filter.inner.process", program],
      );
      hooksInto(join(root, ".git", "modules", "sub", "hooks"), program);
    },
    triggers: [["status"]],
  },
  {
    name: "submodule.update command",
    base: SUBMODULE,
    plant(root, program) {
      set(root, ["submodule.sub.update", `!${program}`], ["submodule.sub.active", "true"]);
      set(root, ["submodule.sub.url", "./sub"], ["submodule.recurse", "true"]);
    },
    triggers: [["submodule", "update", "--init", "--force"]],
  },
  {
    name: "editor and sequence editor",
    plant: (root, program) =>
      set(root, ["core.editor", program], ["sequence.editor", program], ["commit.verbose", "true"]),
    triggers: [["commit", "--amend"]],
  },
  {
    name: "pager and aliases",
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
    triggers: [["st"]],
  },
  {
    name: "remote uploadpack, receivepack and ssh",
    base: OVER_SSH,
    plant: (root, program) =>
      set(
        root,
        ["remote.origin.uploadpack", program],
        ["remote.origin.receivepack", program],
        ["remote.ssh.uploadpack", program],
        ["remote.ssh.receivepack", program],
        ["core.sshCommand", program],
      ),
    triggers: [["fetch", "origin"]],
  },
  {
    name: "url.insteadOf ext::",
    plant: (root, program) =>
      set(
        root,
        [`url.ext::${program} .insteadOf`, "http://127.0.0.1:"],
        ["protocol.ext.allow", "always"],
      ),
    triggers: [["fetch", "origin"]],
    refusedRemote: true,
  },
  {
    name: "core.alternateRefsCommand",
    base: BORROWING,
    plant: (root, program) => set(root, ["core.alternateRefsCommand", program]),
    triggers: [["fetch", "origin"]],
  },
  {
    name: "remote.vcs helper",
    plant(root, program) {
      set(root, ["remote.origin.vcs", "ext"], ["remote.origin.url", `${program} x`]);
      set(root, ["protocol.ext.allow", "always"]);
    },
    triggers: [["fetch", "origin"]],
    refusedRemote: true,
  },
  {
    name: "trailer command",
    plant: (root, program) =>
      set(
        root,
        ["trailer.sign.command", program],
        ["trailer.sign.cmd", program],
        ["trailer.sign.key", "Signed: "],
      ),
    triggers: [["commit", "--allow-empty", "-m", "x", "--trailer", "sign=y"]],
  },
  {
    name: "credential.helper",
    base: BEHIND_LOGIN,
    plant: (root, program) => set(root, ["credential.helper", program]),
    triggers: [["fetch", "origin"]],
  },
  {
    name: "credential helper of a URL, named as a shell command",
    base: BEHIND_LOGIN,
    plant: (root, program) =>
      set(
        root,
        [`credential.${new URL(loginOf(root)).origin}.helper`, `!${program} x`],
        ["credential.useHttpPath", "true"],
      ),
    triggers: [["fetch", "origin"]],
  },
  {
    name: "core.askPass",
    base: LOCKED,
    plant: (root, program) => set(root, ["core.askPass", program]),
    triggers: [["fetch", "origin"]],
  },
  {
    name: "filter through includeIf onbranch",
    refused: true,
    plant(root, program) {
      writeFileSync(
        join(root, ".git", "late"),
        `[filter "evil"]\n\tsmudge = ${program}\n\tclean = ${program}\n`,
      );
      set(
        root,
        ["includeIf.onbranch:**.path", "late"],
        ["includeIf.gitdir:**/worktrees/**.path", "late"],
      );
    },
    triggers: [
      ["checkout", "v0.9", "--", "src/app.ts"],
      ["worktree", "add", "../plain", "feature"],
    ],
  },
  {
    name: "driver of an attributes file that the configuration names",
    plant(root, program) {
      writeFileSync(join(root, ".git", "named"), "*.ts diff=named\n*.md diff=named\n");
      set(root, ["core.attributesFile", ".git/named"], ["diff.named.textconv", program]);
    },
    triggers: [
      ["log", "-p"],
      ["stash", "show", "-p"],
    ],
  },
  {
    name: "default merge driver",
    plant: (root, program) =>
      set(root, ["merge.default", "usual"], ["merge.usual.driver", `${program} %A`]),
    triggers: [["merge", "feature"]],
    setup: (root) => write(root, ".git/info/attributes", "*.ts !merge\n"),
  },
  {
    name: "gpg.x509.program",
    plant: (root, program) =>
      set(root, ["gpg.format", "x509"], ["gpg.x509.program", program], ["commit.gpgSign", "true"]),
    triggers: [["commit", "--allow-empty", "-m", "x"]],
  },
  {
    name: "housekeeping with a hook",
    base: { name: "plain" },
    plant(root, program) {
      hooksInto(join(root, ".git", "hooks"), program);
      set(
        root,
        ["gc.auto", "1"],
        ["gc.autoPackLimit", "1"],
        ["gc.autoDetach", "false"],
        ["maintenance.auto", "true"],
        ["gc.recentObjectsHook", program],
      );
    },
    triggers: [["gc", "--auto"]],
    setup(root) {
      for (const name of ["one", "two", "three"]) {
        commitFiles(root, name, { [name]: name });
        git(root, "repack", "--quiet");
      }
    },
  },
  {
    name: "remote of the current branch as a command",
    plant: (root, program) =>
      set(root, ["branch.main.remote", `ext::${program} x`], ["protocol.ext.allow", "always"]),
    triggers: [["fetch"]],
  },
  {
    name: "remote.pushDefault as a command",
    plant: (root, program) =>
      set(root, ["remote.pushDefault", `ext::${program} x`], ["protocol.ext.allow", "always"]),
    triggers: [["push"]],
  },
  {
    name: "pushurl as a command",
    plant: (root, program) =>
      set(root, ["remote.origin.pushurl", `ext::${program} x`], ["protocol.ext.allow", "always"]),
    triggers: [["push", "origin", "main"]],
    refusedRemote: true,
  },
  {
    name: "pushRemote of the current branch as a command",
    plant: (root, program) =>
      set(root, ["branch.main.pushRemote", `ext::${program} x`], ["protocol.ext.allow", "always"]),
    triggers: [["push"]],
  },
  {
    name: "url.pushInsteadOf ext::",
    plant: (root, program) =>
      set(
        root,
        [`url.ext::${program} .pushInsteadOf`, "http://127.0.0.1:"],
        ["protocol.ext.allow", "always"],
      ),
    triggers: [["push", "origin", "main"]],
    refusedRemote: true,
  },
  {
    name: "group of remotes by a remote's name",
    since: "2.56",
    plant: (root, program) =>
      set(
        root,
        ["remotes.origin", "evil"],
        ["remote.evil.url", `ext::${program} x`],
        ["protocol.ext.allow", "always"],
      ),
    triggers: [["push", "origin", "main"]],
    refusedRemote: true,
  },
  {
    name: "URL of a remote that an empty one replaces",
    since: "2.46",
    plant(root, program) {
      for (const url of ["", `ext::${program} x`])
        git(root, "config", "--add", "remote.origin.url", url);
      set(root, ["protocol.ext.allow", "always"]);
    },
    triggers: [["fetch", "origin"]],
    refusedRemote: true,
  },
  {
    name: "hook of the configuration",
    since: "2.54",
    plant(root, program) {
      set(
        root,
        ["hook.evil.command", program],
        ["hook.evil.event", "pre-commit"],
        ["hook.evil.event", "post-commit"],
        ["hook.evil.event", "post-checkout"],
        ["hook.evil.event", "post-merge"],
        ["hook.evil.event", "reference-transaction"],
      );
    },
    triggers: [["commit", "--allow-empty", "-m", "x"]],
  },
  {
    name: "command of an alias",
    since: "2.54",
    plant: (root, program) => set(root, ["alias.own.command", `!${program}`]),
    triggers: [["own"]],
  },
  {
    name: "core.fsmonitor through includeIf hasconfig",
    refused: true,
    plant(root, program) {
      writeFileSync(join(root, ".git", "remotely"), `[core]\n\tfsmonitor = ${program}\n`);
      set(root, ["includeIf.hasconfig:remote.*.url:**.path", "remotely"]);
    },
    triggers: [["status"]],
  },
  {
    name: "rebase.instructionFormat with a line exec",
    plant: (root, program) => set(root, ["rebase.instructionFormat", `%s%nexec ${program}`]),
    triggers: [["rebase", "feature"]],
  },
  {
    name: "remote of a submodule as a command",
    base: SUBMODULE,
    plant(root, program) {
      setInSubmodule(
        root,
        ["remote.origin.url", `ext::${program} x`],
        ["protocol.ext.allow", "always"],
      );
      set(root, ["fetch.recurseSubmodules", "true"], ["push.recurseSubmodules", "on-demand"]);
      set(root, ["submodule.sub.active", "true"]);
    },
    triggers: [["fetch", "--recurse-submodules", "origin"]],
  },
];

function setInSubmodule(
  root: string,
  ...pairs: readonly (readonly [key: string, value: string])[]
): void {
  appendFileSync(join(root, ".git", "modules", "sub", "config"), configText(pairs));
}

/** The URL of the remote that requires a login. */
function loginOf(root: string): string {
  const urls = git(root, "config", "--get-regexp", "^remote\\.(login|origin)\\.url$")
    .trim()
    .split("\n");
  return (
    (urls.find((line) => line.startsWith("remote.login")) ?? urls[0] ?? "").split(" ")[1] ?? ""
  );
}
