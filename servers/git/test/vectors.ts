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

type Keys = Readonly<Record<string, string>>;
const pairsOf = (keys: Keys, program: string) =>
  Object.entries(keys).map(
    (pair) => pair.map((text) => text.replaceAll("$", program)) as [string, string],
  );

/** Makes traps of a kind: keys of the configuration, where `$` is the program, or more than that. */
const ofKind =
  (kind: Vector["kind"], more: Partial<Vector> = {}) =>
  (name: string, triggers: string, what: Keys | Vector["plant"]): Vector => ({
    ...{ name, kind, ...more },
    triggers: triggers.split("; ").map((command) => command.split(" ")),
    plant: (root, program) =>
      typeof what === "function" ? what(root, program) : set(root, ...pairsOf(what, program)),
  });
const any = ofKind("any");
const filter = ofKind("filter");
const remote = ofKind("remote");
const refused = ofKind("refused");
const newer = ofKind("any", { since: "2.54" });
const newerRemote = ofKind("remote", { since: "2.46" });

/** Keys in a file of configuration in the git directory. */
const file = (root: string, name: string, program: string, keys: Keys) =>
  appendFileSync(join(root, ".git", name), configText(pairsOf(keys, program)));
const SUB = "modules/sub/config";
/** A remote that lacks an object, and that git asks for it; without a URL it is the repository itself. */
const ofPromisor = (how: string, name: string, keys: Keys, url?: string): Vector =>
  remote(`promisor remote ${how}`, "show partial:gone.txt", (root, program) => {
    set(root, ...promisor(name, url?.replace("$", program) ?? root), ...pairsOf(keys, program));
  });
function packTwice(root: string): void {
  const pack = ["pack-objects", "--quiet", ".git/objects/pack/pack"];
  for (const name of ["main", "v0.9"])
    execFileSync("git", pack, { cwd: root, input: git(root, "rev-parse", name) });
}
const unsetMerge = (root: string) => write(root, ".git/info/attributes", "*.ts !merge\n");

const COMMIT = "commit --allow-empty -m x";
const FILE = "checkout v0.9 -- src/app.ts";
const PLAIN_TREE = "worktree add ../plain feature";
const DIFF = "diff v0.9 v1.0";
const EXT = { "protocol.ext.allow": "always" };
const INNER = { "core.fsmonitor": "$", "filter.inner.clean": "$", "filter.inner.process": "$" };

export const VECTORS: readonly Vector[] = [
  any("core.fsmonitor", "status", { "core.fsmonitor": "$" }),
  refused("core.fsmonitor through include.path", "status", (root, program) => {
    file(root, "more", program, { "core.fsmonitor": "$" });
    set(root, ["include.path", "more"]);
  }),
  any("core.fsmonitor in config.worktree", "status", (root, program) => {
    set(root, ["extensions.worktreeConfig", "true"]);
    file(root, "config.worktree", program, { "core.fsmonitor": "$" });
  }),
  any("hooks", COMMIT, (root, program) => hooksInto(join(root, ".git", "hooks"), program)),
  any("core.hooksPath", COMMIT, (root, program) => {
    hooksInto(join(root, ".git", "elsewhere"), program);
    set(root, ["core.hooksPath", ".git/elsewhere"]);
  }),
  any("diff.external", DIFF, { "diff.external": "$" }),
  any("diff driver command", DIFF, { "diff.evil.command": "$" }),
  any("textconv", DIFF, { "diff.evil.textconv": "$" }),
  filter("clean and smudge filter", FILE, {
    ...{ "filter.evil.clean": "$", "filter.evil.smudge": "$", "filter.evil.required": "true" },
  }),
  filter("filter named a=b", "checkout stash@{0} -- README.md", {
    ...{ "filter.a=b.clean": "$", "filter.a=b.smudge": "$" },
  }),
  filter("filter process", FILE, {
    ...{ "filter.piped.process": "$", "filter.evil.process": "$" },
  }),
  any("gpg.program with log.showSignature", "log -1", {
    ...{ "gpg.program": "$", "log.showSignature": "true", "merge.verifySignatures": "true" },
  }),
  any("gpg.program with commit.gpgSign", COMMIT, {
    ...{ "gpg.program": "$", "commit.gpgSign": "true", "tag.gpgSign": "true" },
    ...{ "tag.forceSignAnnotated": "true", "push.gpgSign": "true", "user.signingKey": "x" },
  }),
  any("gpg.ssh.defaultKeyCommand", COMMIT, {
    ...{ "gpg.format": "ssh", "gpg.ssh.program": "$", "gpg.ssh.defaultKeyCommand": "$" },
    ...{ "commit.gpgSign": "true", "tag.gpgSign": "true" },
  }),
  ofPromisor("with uploadpack", "lender", { "remote.lender.uploadpack": "$" }),
  ofPromisor("over ext::", "ext", { ...EXT, "protocol.allow": "always" }, "ext::$ %S"),
  ofPromisor("with core.sshCommand", "ssh", { "core.sshCommand": "$" }, "ssh://host.invalid/x"),
  ofPromisor("with core.gitProxy", "git", { "core.gitProxy": "$" }, "git://host.invalid/x"),
  any("merge driver", "merge feature", { "merge.evil.driver": "$ %A" }),
  any("branch.mergeOptions", "merge --no-ff feature", {
    "branch.main.mergeOptions": "--gpg-sign --edit --strategy=ours",
    ...{ "gpg.program": "$", "user.signingKey": "x", "core.editor": "$", "pull.twohead": "ort" },
  }),
  any("configuration of a submodule", "status", (root, program) => {
    file(root, SUB, program, { ...INNER, "diff.external": "$" });
    hooksInto(join(root, ".git", "modules", "sub", "hooks"), program);
    set(root, ["submodule.sub.ignore", "none"], ["submodule.recurse", "true"]);
    set(root, ["diff.submodule", "diff"], ["diff.ignoreSubmodules", "none"]);
    set(root, ["status.submoduleSummary", "true"]);
  }),
  any("submodule opened by .gitmodules", "status", (root, program) => {
    file(root, SUB, program, INNER);
    hooksInto(join(root, ".git", "modules", "sub", "hooks"), program);
  }),
  any("submodule.update command", "submodule update --init --force", {
    ...{ "submodule.sub.update": "!$", "submodule.sub.active": "true" },
    ...{ "submodule.sub.url": "./sub", "submodule.recurse": "true" },
  }),
  any("editor and sequence editor", "commit --amend", {
    ...{ "core.editor": "$", "sequence.editor": "$", "commit.verbose": "true" },
  }),
  any("pager and aliases", "st", {
    ...{ "core.pager": "$", "pager.log": "$", "pager.status": "true" },
    ...{ "alias.st": "!$", "alias.status": "!$", "interactive.diffFilter": "$" },
  }),
  any("remote uploadpack, receivepack and ssh", "fetch ssh", {
    ...{ "remote.origin.uploadpack": "$", "remote.origin.receivepack": "$" },
    ...{ "remote.ssh.uploadpack": "$", "remote.ssh.receivepack": "$", "core.sshCommand": "$" },
  }),
  remote("url.insteadOf ext::", "fetch origin", {
    ...{ "url.ext::$ .insteadOf": "http://127.0.0.1:", ...EXT },
  }),
  any("core.alternateRefsCommand", "fetch origin", { "core.alternateRefsCommand": "$" }),
  remote("remote.vcs helper", "fetch origin", {
    ...{ "remote.origin.vcs": "ext", "remote.origin.url": "$ x", ...EXT },
  }),
  any("trailer command", `${COMMIT} --trailer sign=y`, {
    ...{ "trailer.sign.command": "$", "trailer.sign.cmd": "$", "trailer.sign.key": "Signed: " },
  }),
  any("credential.helper", "fetch login", { "credential.helper": "$" }),
  any("credential helper of a URL, named as a shell command", "fetch login", (root, program) => {
    const { origin } = new URL(git(root, "config", "remote.login.url"));
    set(root, [`credential.${origin}.helper`, `!${program} x`]);
    set(root, ["credential.useHttpPath", "true"]);
  }),
  any("core.askPass", "fetch locked", { "core.askPass": "$" }),
  refused("filter through includeIf onbranch", `${FILE}; ${PLAIN_TREE}`, (root, program) => {
    file(root, "late", program, { "filter.evil.smudge": "$", "filter.evil.clean": "$" });
    for (const condition of ["onbranch:**", "gitdir:**/worktrees/**"])
      set(root, [`includeIf.${condition}.path`, "late"]);
  }),
  any(
    "driver of an attributes file that the configuration names",
    "log -p; stash show -p",
    (root, program) => {
      writeFileSync(join(root, ".git", "named"), "*.ts diff=named\n*.md diff=named\n");
      set(root, ["core.attributesFile", ".git/named"], ["diff.named.textconv", program]);
    },
  ),
  ofKind("any", { setup: unsetMerge })("default merge driver", "merge feature", {
    ...{ "merge.default": "usual", "merge.usual.driver": "$ %A" },
  }),
  any("gpg.x509.program", COMMIT, {
    ...{ "gpg.format": "x509", "gpg.x509.program": "$", "commit.gpgSign": "true" },
  }),
  ofKind("any", { setup: packTwice })("housekeeping with a hook", "gc --auto", (root, program) => {
    hooksInto(join(root, ".git", "hooks"), program);
    set(root, ["gc.auto", "1"], ["gc.autoPackLimit", "1"], ["gc.autoDetach", "false"]);
    set(root, ["maintenance.auto", "true"], ["gc.recentObjectsHook", program]);
  }),
  any("remote of the current branch as a command", "fetch", {
    ...{ "branch.main.remote": "ext::$ x", ...EXT },
  }),
  any("remote.pushDefault as a command", "push", { "remote.pushDefault": "ext::$ x", ...EXT }),
  remote("pushurl as a command", "push origin main", {
    ...{ "remote.origin.pushurl": "ext::$ x", ...EXT },
  }),
  any("pushRemote of the current branch as a command", "push", {
    ...{ "branch.main.pushRemote": "ext::$ x", ...EXT },
  }),
  remote("url.pushInsteadOf ext::", "push origin main", {
    ...{ "url.ext::$ .pushInsteadOf": "http://127.0.0.1:", ...EXT },
  }),
  ofKind("remote", { since: "2.56" })("group of remotes by a remote's name", "push origin main", {
    ...{ "remotes.origin": "evil", "remote.evil.url": "ext::$ x", ...EXT },
  }),
  newerRemote("URL of a remote that an empty one replaces", "fetch origin", (root, program) => {
    for (const url of ["", `ext::${program} x`])
      git(root, "config", "--add", "remote.origin.url", url);
    set(root, ["protocol.ext.allow", "always"]);
  }),
  newer("hook of the configuration", COMMIT, (root, program) => {
    const events = "pre-commit post-commit post-checkout post-merge reference-transaction";
    for (const event of events.split(" ")) set(root, ["hook.evil.event", event]);
    set(root, ["hook.evil.command", program]);
  }),
  newer("command of an alias", "own", { "alias.own.command": "!$" }),
  refused("core.fsmonitor through includeIf hasconfig", "status", (root, program) => {
    file(root, "remotely", program, { "core.fsmonitor": "$" });
    set(root, ["includeIf.hasconfig:remote.*.url:**.path", "remotely"]);
  }),
  any("rebase.instructionFormat with a line exec", "rebase feature", {
    "rebase.instructionFormat": "%s%nexec $",
  }),
  any(
    "remote of a submodule as a command",
    "fetch --recurse-submodules origin",
    (root, program) => {
      file(root, SUB, program, { "remote.origin.url": "ext::$ x", ...EXT });
      set(root, ["fetch.recurseSubmodules", "true"], ["push.recurseSubmodules", "on-demand"]);
      set(root, ["submodule.sub.active", "true"]);
    },
  ),
];
