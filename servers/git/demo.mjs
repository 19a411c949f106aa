import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "reads this repository, and stays safe in a malicious one.";

/** @param {import("../../scripts/lib/demo.mjs").Harness} harness */
export async function demo({ folder, root, say, check, skip, connect }) {
  if (!hasGit())
    skip(
      "git was not found on the PATH. Install it from https://git-scm.com/downloads, then run npm start again.",
      {
        required: true,
      },
    );
  const isClone = isRepository(root);
  if (isClone) {
    say("This repository, in read-only mode.");
    const head = run(root, "rev-parse", "HEAD").trim();
    const here = await connect("git", { era: "legacy", args: ["--read-only", root] });
    await here.call("git_status", {}, { head });
    await here.call("git_log", { max_count: 1 }, { commits: [{ commit: head }] });
    await here.close();
  }

  const project = join(folder, "project");
  run(folder, "clone", "--quiet", "--no-hardlinks", isClone ? root : await sample(folder), project);
  run(project, "config", "user.name", "Visitor");
  run(project, "config", "user.email", "visitor@example.org");
  await appendFile(join(project, "README.md"), "\nA line for the demo.\n");

  say(
    "A copy of it, with a change and a trap: core.fsmonitor and a hook, programs that plain git would run.",
  );
  const trap = join(folder, "trap.sh");
  const trapped = () => existsSync(join(folder, "trapped"));
  await writeFile(trap, `#!/bin/sh\n: > '${join(folder, "trapped")}'\n`);
  await chmod(trap, 0o755);
  run(project, "config", "core.fsmonitor", trap);
  await mkdir(join(project, ".git", "hooks"), { recursive: true });
  await writeFile(join(project, ".git", "hooks", "pre-commit"), `#!/bin/sh\nexec "${trap}"\n`, {
    mode: 0o755,
  });

  /** @type {string[]} */
  const asked = [];
  const next = await connect("git", {
    era: "modern",
    args: [project, "--toolsets", "read,write,danger"],
    elicit({ message }) {
      asked.push(message);
      // Two questions: whether to run the repository's hooks, and whether to lose a commit.
      return message.includes("pre-commit")
        ? { action: "decline" }
        : { action: "accept", content: { confirm: true } };
    },
  });
  await next.call(
    "git_add",
    { files: ["README.md"] },
    { count: 1, staged: [{ path: "README.md" }] },
  );
  await next.prompt("commit_message", { hint: "to show the prompt" }, "commit message");
  const message = "Add a line for the demo";
  await next.call("git_commit", { message }, { summary: "1 file changed, 2 insertions(+)" });
  check("the server does not run the repository's programs", !trapped());
  run(project, "status");
  check("plain git status does run them", trapped());
  say("The server did not run either of them. One plain git status did.");

  say("A reset shows the exact loss, asks first, and can be undone.");
  const lost = run(project, "rev-parse", "HEAD").trim();
  await next.call(
    "git_reset_hard",
    { revision: "HEAD~1" },
    { before: lost, recovery: /^[0-9a-f]{40}/ },
  );
  check("the question names the commit that is lost", asked.at(-1)?.includes(message) === true);
  const reflog = run(project, "reflog", "--format=%H", "refs/refmcp/recovery");
  check("the commit is kept for recovery", reflog.includes(lost));
  await next.close();
}

function hasGit() {
  try {
    run(".", "--version");
    return true;
  } catch {
    return false;
  }
}

/** @param {string} root */
function isRepository(root) {
  try {
    run(root, "rev-parse", "--git-dir");
    return true;
  } catch {
    return false;
  }
}

/** For sources that were unpacked without their history. @param {string} folder */
async function sample(folder) {
  const sample = join(folder, "sample");
  await mkdir(sample);
  run(sample, "init", "--quiet");
  for (const line of ["# Sample", "Second line"]) {
    await appendFile(join(sample, "README.md"), `${line}\n`);
    run(sample, "add", "README.md");
    run(
      sample,
      "-c",
      "user.name=V",
      "-c",
      "user.email=v@example.org",
      "commit",
      "--quiet",
      "-m",
      line,
    );
  }
  return sample;
}

/** @param {string} cwd @param {string[]} args */
function run(cwd, ...args) {
  return execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
