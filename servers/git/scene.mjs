import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "reads this very repository, and shrugs at one that is set to attack.";

/** @param {any} stage see scripts/lib/stage.mjs */
export async function scene({ folder, root, say, connect }) {
  const isClone = isRepository(root);
  if (isClone) {
    say("This very repository, in read-only mode.");
    const here = await connect("git", { era: "legacy", args: ["--read-only", root] });
    await here.call("git_status");
    await here.call("git_log", { max_count: 3 });
    await here.close();
  }

  const project = join(folder, "project");
  run(folder, "clone", "--quiet", "--no-hardlinks", isClone ? root : await sample(folder), project);
  run(project, "config", "user.name", "Visitor");
  run(project, "config", "user.email", "visitor@example.org");
  await appendFile(join(project, "README.md"), "\nA line for the scene.\n");

  say("A copy of it, with a change and a trap: core.fsmonitor and a hook that plain git would run at once.");
  const trap = join(folder, "trap.sh");
  await writeFile(trap, '#!/bin/sh\ntouch "$(dirname "$0")/trapped"\n');
  await chmod(trap, 0o755);
  run(project, "config", "core.fsmonitor", trap);
  await mkdir(join(project, ".git", "hooks"), { recursive: true });
  await writeFile(join(project, ".git", "hooks", "pre-commit"), `#!/bin/sh\nexec "${trap}"\n`, {
    mode: 0o755,
  });

  const next = await connect("git", {
    era: "modern",
    args: [project, "--toolsets", "read,write,danger"],
    elicit: ({ message }) =>
      message.startsWith("Run the hooks")
        ? { action: "decline" }
        : { action: "accept", content: { confirm: true } },
  });
  await next.call("git_add", { files: ["README.md"] });
  await next.prompt("commit_message", { hint: "to show the prompt" });
  await next.call("git_commit", { message: "Say hello from the scene" });
  if (existsSync(join(folder, "trapped"))) throw new Error("the repository's trap was run");
  run(project, "status");
  if (!existsSync(join(folder, "trapped"))) throw new Error("the trap is none");
  say("The trap stayed shut all the while; one plain git status, and it has snapped.");

  say("What loses something shows the exact loss, asks, and keeps a way back.");
  await next.call("git_reset_hard", { revision: "HEAD~1" });
  await next.call("git_list_refs", { kind: "recovery" });
  await next.close();
}

function isRepository(root) {
  try {
    run(root, "rev-parse", "--git-dir");
    return true;
  } catch {
    return false;
  }
}

/** Where the sources were unpacked without their history. */
async function sample(folder) {
  const made = join(folder, "sample");
  await mkdir(made);
  run(made, "init", "--quiet");
  for (const line of ["# Sample", "Second line"]) {
    await appendFile(join(made, "README.md"), `${line}\n`);
    run(made, "add", "README.md");
    run(made, "-c", "user.name=V", "-c", "user.email=v@example.org", "commit", "--quiet", "-m", line);
  }
  return made;
}

function run(cwd, ...args) {
  return execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
