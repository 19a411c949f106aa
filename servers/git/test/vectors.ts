import { execFileSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, write } from "./fixture.ts";
import { configText, hooksInto, promisor, set } from "./traps.ts";

/** A way in which a repository makes git execute a program. */
export interface Vector {
  readonly name: string;
  /** Sets the trap: `program` must be run by plain git. */
  plant(root: string, program: string): void;
  /** Further setup that plain git needs to trigger it. */
  setup?(root: string): void;
  /** Commands of a person in this repository that make plain git run the program. */
  readonly triggers: readonly (readonly string[])[];
  /** The first version of git that has it; older ones are not checked. */
  readonly since?: string;
  /**
   * What may refuse this configuration instead: nothing, the tools that would need the filter, those that contact the
   * remote, or every tool.
   */
  readonly kind: "any" | "filter" | "remote" | "refused";
}

type Keys = Readonly<Record<string, string | readonly string[]>>;
const pairsOf = (keys: Keys, program: string) =>
  Object.entries(keys).flatMap(([key, values]) =>
    [values]
      .flat()
      .map(
        (value) => [key, value].map((text) => text.replaceAll("$", program)) as [string, string],
      ),
  );
const commands = (text: string) => text.split("; ").map((command) => command.split(" "));

/** A trap that sets keys of the configuration, where `$` is the program, and the commands that trigger it. */
const keys = (name: string, triggers: string, pairs: Keys, more: Partial<Vector> = {}): Vector => ({
  name,
  kind: "any",
  triggers: commands(triggers),
  plant: (root, program) => set(root, ...pairsOf(pairs, program)),
  ...more,
});
/** A trap that does more. */
const trap = (
  name: string,
  triggers: string,
  plant: Vector["plant"],
  more: Partial<Vector> = {},
): Vector => ({ name, kind: "any", triggers: commands(triggers), plant, ...more });
/** A file of configuration in the git directory, where `$` is the program. */
const file = (root: string, name: string, program: string, pairs: Keys) =>
  writeFileSync(join(root, ".git", name), configText(pairsOf(pairs, program)));
const inSubmodule = (root: string, program: string, pairs: Keys) =>
  appendFileSync(
    join(root, ".git", "modules", "sub", "config"),
    configText(pairsOf(pairs, program)),
  );
const REFUSED = { kind: "refused" } as const;
const FILTER = { kind: "filter" } as const;
const REMOTE = { kind: "remote" } as const;
/** A remote that lacks an object, and that git asks for it; without a URL it is the repository itself. */
const ofPromisor = (how: string, remote: string, pairs: Keys, url?: string): Vector =>
  trap(
    `promisor remote ${how}`,
    "show partial:gone.txt",
    (root, program) => {
      set(root, ...promisor(remote, url?.replace("$", program) ?? root));
      set(root, ...pairsOf(pairs, program));
    },
    REMOTE,
  );

const COMMIT = "commit --allow-empty -m x";
const DIFF = "diff v0.9 v1.0";
const EXT = { "protocol.ext.allow": "always" };
const INNER = { "core.fsmonitor": "$", "filter.inner.clean": "$", "filter.inner.process": "$" };

export const VECTORS: readonly Vector[] = [
  keys("core.fsmonitor", "status", { "core.fsmonitor": "$" }),
  trap(
    "core.fsmonitor through include.path",
    "status",
    (root, program) => {
      file(root, "more", program, { "core.fsmonitor": "$" });
      set(root, ["include.path", "more"]);
    },
    REFUSED,
  ),
  trap("core.fsmonitor in config.worktree", "status", (root, program) => {
    set(root, ["extensions.worktreeConfig", "true"]);
    file(root, "config.worktree", program, { "core.fsmonitor": "$" });
  }),
  trap("hooks", COMMIT, (root, program) => hooksInto(join(root, ".git", "hooks"), program)),
  trap("core.hooksPath", COMMIT, (root, program) => {
    hooksInto(join(root, ".git", "elsewhere"), program);
    set(root, ["core.hooksPath", ".git/elsewhere"]);
  }),
  keys("diff.external", DIFF, { "diff.external": "$" }),
  keys("diff driver command", DIFF, { "diff.evil.command": "$" }),
  keys("textconv", DIFF, { "diff.evil.textconv": "$" }),
  keys(
    "clean and smudge filter",
    "checkout v0.9 -- src/app.ts",
    { "filter.evil.clean": "$", "filter.evil.smudge": "$", "filter.evil.required": "true" },
    FILTER,
  ),
  keys(
    "filter named a=b",
    "checkout stash@{0} -- README.md",
    { "filter.a=b.clean": "$", "filter.a=b.smudge": "$" },
    FILTER,
  ),
  keys(
    "filter process",
    "checkout v0.9 -- src/app.ts",
    { "filter.piped.process": "$", "filter.evil.process": "$" },
    FILTER,
  ),
  keys("gpg.program with log.showSignature", "log -1", {
    ...{ "gpg.program": "$", "log.showSignature": "true", "merge.verifySignatures": "true" },
  }),
  keys("gpg.program with commit.gpgSign", COMMIT, {
    ...{ "gpg.program": "$", "commit.gpgSign": "true", "tag.gpgSign": "true" },
    ...{ "tag.forceSignAnnotated": "true", "push.gpgSign": "true", "user.signingKey": "x" },
  }),
  keys("gpg.ssh.defaultKeyCommand", COMMIT, {
    ...{ "gpg.format": "ssh", "gpg.ssh.program": "$", "gpg.ssh.defaultKeyCommand": "$" },
    ...{ "commit.gpgSign": "true", "tag.gpgSign": "true" },
  }),
  ofPromisor("with uploadpack", "lender", { "remote.lender.uploadpack": "$" }),
  ofPromisor("over ext::", "ext", { ...EXT, "protocol.allow": "always" }, "ext::$ %S"),
  ofPromisor("with core.sshCommand", "ssh", { "core.sshCommand": "$" }, "ssh://host.invalid/x"),
  ofPromisor("with core.gitProxy", "git", { "core.gitProxy": "$" }, "git://host.invalid/x"),
  keys("merge driver", "merge feature", { "merge.evil.driver": "$ %A" }),
  keys("branch.mergeOptions", "merge --no-ff feature", {
    "branch.main.mergeOptions": "--gpg-sign --edit --strategy=ours",
    ...{ "gpg.program": "$", "user.signingKey": "x", "core.editor": "$", "pull.twohead": "ort" },
  }),
  trap("configuration of a submodule", "status", (root, program) => {
    inSubmodule(root, program, { ...INNER, "diff.external": "$" });
    hooksInto(join(root, ".git", "modules", "sub", "hooks"), program);
    set(root, ["submodule.sub.ignore", "none"], ["submodule.recurse", "true"]);
    set(root, ["diff.submodule", "diff"], ["diff.ignoreSubmodules", "none"]);
    set(root, ["status.submoduleSummary", "true"]);
  }),
  trap("submodule opened by .gitmodules", "status", (root, program) => {
    inSubmodule(root, program, INNER);
    hooksInto(join(root, ".git", "modules", "sub", "hooks"), program);
  }),
  keys("submodule.update command", "submodule update --init --force", {
    ...{ "submodule.sub.update": "!$", "submodule.sub.active": "true" },
    ...{ "submodule.sub.url": "./sub", "submodule.recurse": "true" },
  }),
  keys("editor and sequence editor", "commit --amend", {
    ...{ "core.editor": "$", "sequence.editor": "$", "commit.verbose": "true" },
  }),
  keys("pager and aliases", "st", {
    ...{ "core.pager": "$", "pager.log": "$", "pager.status": "true" },
    ...{ "alias.st": "!$", "alias.status": "!$", "interactive.diffFilter": "$" },
  }),
  keys("remote uploadpack, receivepack and ssh", "fetch ssh", {
    ...{ "remote.origin.uploadpack": "$", "remote.origin.receivepack": "$" },
    ...{ "remote.ssh.uploadpack": "$", "remote.ssh.receivepack": "$", "core.sshCommand": "$" },
  }),
  keys(
    "url.insteadOf ext::",
    "fetch origin",
    { "url.ext::$ .insteadOf": "http://127.0.0.1:", ...EXT },
    REMOTE,
  ),
  keys("core.alternateRefsCommand", "fetch origin", { "core.alternateRefsCommand": "$" }),
  keys(
    "remote.vcs helper",
    "fetch origin",
    { "remote.origin.vcs": "ext", "remote.origin.url": "$ x", ...EXT },
    REMOTE,
  ),
  keys("trailer command", `${COMMIT} --trailer sign=y`, {
    ...{ "trailer.sign.command": "$", "trailer.sign.cmd": "$", "trailer.sign.key": "Signed: " },
  }),
  keys("credential.helper", "fetch login", { "credential.helper": "$" }),
  trap("credential helper of a URL, named as a shell command", "fetch login", (root, program) => {
    const { origin } = new URL(git(root, "config", "remote.login.url"));
    set(root, [`credential.${origin}.helper`, `!${program} x`]);
    set(root, ["credential.useHttpPath", "true"]);
  }),
  keys("core.askPass", "fetch locked", { "core.askPass": "$" }),
  trap(
    "filter through includeIf onbranch",
    "checkout v0.9 -- src/app.ts; worktree add ../plain feature",
    (root, program) => {
      file(root, "late", program, { "filter.evil.smudge": "$", "filter.evil.clean": "$" });
      for (const condition of ["onbranch:**", "gitdir:**/worktrees/**"])
        set(root, [`includeIf.${condition}.path`, "late"]);
    },
    REFUSED,
  ),
  trap(
    "driver of an attributes file that the configuration names",
    "log -p; stash show -p",
    (root, program) => {
      writeFileSync(join(root, ".git", "named"), "*.ts diff=named\n*.md diff=named\n");
      set(root, ["core.attributesFile", ".git/named"], ["diff.named.textconv", program]);
    },
  ),
  keys(
    "default merge driver",
    "merge feature",
    { "merge.default": "usual", "merge.usual.driver": "$ %A" },
    { setup: (root) => write(root, ".git/info/attributes", "*.ts !merge\n") },
  ),
  keys("gpg.x509.program", COMMIT, {
    ...{ "gpg.format": "x509", "gpg.x509.program": "$", "commit.gpgSign": "true" },
  }),
  trap(
    "housekeeping with a hook",
    "gc --auto",
    (root, program) => {
      hooksInto(join(root, ".git", "hooks"), program);
      set(root, ["gc.auto", "1"], ["gc.autoPackLimit", "1"], ["gc.autoDetach", "false"]);
      set(root, ["maintenance.auto", "true"], ["gc.recentObjectsHook", program]);
    },
    {
      setup(root) {
        const pack = ["pack-objects", "--quiet", ".git/objects/pack/pack"];
        for (const name of ["main", "v0.9"])
          execFileSync("git", pack, { cwd: root, input: git(root, "rev-parse", name) });
      },
    },
  ),
  keys("remote of the current branch as a command", "fetch", {
    ...{ "branch.main.remote": "ext::$ x", ...EXT },
  }),
  keys("remote.pushDefault as a command", "push", { "remote.pushDefault": "ext::$ x", ...EXT }),
  keys(
    "pushurl as a command",
    "push origin main",
    { "remote.origin.pushurl": "ext::$ x", ...EXT },
    REMOTE,
  ),
  keys("pushRemote of the current branch as a command", "push", {
    ...{ "branch.main.pushRemote": "ext::$ x", ...EXT },
  }),
  keys(
    "url.pushInsteadOf ext::",
    "push origin main",
    { "url.ext::$ .pushInsteadOf": "http://127.0.0.1:", ...EXT },
    REMOTE,
  ),
  keys(
    "group of remotes by a remote's name",
    "push origin main",
    { "remotes.origin": "evil", "remote.evil.url": "ext::$ x", ...EXT },
    { since: "2.56", ...REMOTE },
  ),
  trap(
    "URL of a remote that an empty one replaces",
    "fetch origin",
    (root, program) => {
      for (const url of ["", `ext::${program} x`])
        git(root, "config", "--add", "remote.origin.url", url);
      set(root, ["protocol.ext.allow", "always"]);
    },
    { since: "2.46", ...REMOTE },
  ),
  keys(
    "hook of the configuration",
    COMMIT,
    {
      "hook.evil.command": "$",
      "hook.evil.event":
        "pre-commit post-commit post-checkout post-merge reference-transaction".split(" "),
    },
    { since: "2.54" },
  ),
  keys("command of an alias", "own", { "alias.own.command": "!$" }, { since: "2.54" }),
  trap(
    "core.fsmonitor through includeIf hasconfig",
    "status",
    (root, program) => {
      file(root, "remotely", program, { "core.fsmonitor": "$" });
      set(root, ["includeIf.hasconfig:remote.*.url:**.path", "remotely"]);
    },
    REFUSED,
  ),
  keys("rebase.instructionFormat with a line exec", "rebase feature", {
    "rebase.instructionFormat": "%s%nexec $",
  }),
  trap(
    "remote of a submodule as a command",
    "fetch --recurse-submodules origin",
    (root, program) => {
      inSubmodule(root, program, { "remote.origin.url": "ext::$ x", ...EXT });
      set(root, ["fetch.recurseSubmodules", "true"], ["push.recurseSubmodules", "on-demand"]);
      set(root, ["submodule.sub.active", "true"]);
    },
  ),
];
