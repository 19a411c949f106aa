import { createHash } from "node:crypto";
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { World } from "@refmcp/testing";

const SECRET = "the-secret-outside-of-the-notes";

/** A few notes, a long list, and a symlink that leads out. */
export async function world(): Promise<World & { readonly folder: string }> {
  const top = await realpath(await mkdtemp(join(tmpdir(), "refmcp-sample-")));
  const folder = join(top, "notes");
  await mkdir(folder);
  await writeFile(join(top, "secret.md"), SECRET);
  await symlink(join(top, "secret.md"), join(folder, "leak.md"));
  await writeFile(
    join(folder, "meeting.md"),
    "# Meeting\n\nAda brings the tea.\nCharles talks about engines.\n",
  );
  await writeFile(
    join(folder, "ideas.md"),
    "# Ideas\n\nA machine that plays chess.\nTea for everybody.\n",
  );
  const long = Array.from({ length: 3_000 }, (_, index) => `entry ${index + 1} of a long list`);
  await writeFile(join(folder, "long.md"), long.join("\n"));
  return {
    folder,
    args: [folder],
    calls: {
      sample_find: { query: "tea" },
    },
    failures: {
      sample_find: { query: "tea", path: "leak.md" },
    },
    large: {
      sample_find: { query: "entry", limit: 500 },
    },
    secret: SECRET,
    async fingerprint() {
      const hash = createHash("sha256");
      for (const name of (await readdir(top, { recursive: true })).sort()) {
        hash.update(name);
        if (name.endsWith(".md")) hash.update(await readFile(join(top, name)));
      }
      return hash.digest("hex");
    },
    stable: (text) => text.replaceAll(top, "/world"),
    dispose: () => rm(top, { recursive: true, force: true }),
  };
}
