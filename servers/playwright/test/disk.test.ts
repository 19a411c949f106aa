import { execFile } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { PNG } from "pngjs";
import { expect, it, onTestFinished } from "vitest";
import { RunStore } from "../src/browser/store/runs.ts";
import { page } from "./lab.ts";
import { folderOf, site } from "./session.ts";
import { makeTester } from "./testers.ts";

const run = promisify(execFile);
const SECRET = "hunter2 & more";

/** Fails if a file of a run is not complete or shows the secret. */
async function expectWhole(path: string): Promise<void> {
  const content = await readFile(path);
  expect(content.includes(SECRET), path).toBe(false);
  if (/\.(?:json|har)$/.test(path)) JSON.parse(content.toString());
  else if (path.endsWith(".png")) PNG.sync.read(content);
  else expect(path).toMatch(/\.(?:zip|csv|md)$/);
}

const web = await site({
  "/": page(
    `<h1>Good</h1><label>Name <input oninput="console.log(this.value)"></label><a href="/data.csv">Data</a>
     <p>${Array.from({ length: 3_000 }, (_, n) => `${(n * 7_919) % 10_007}`).join(" ")}</p>`,
  ),
  "/data.csv": (_, response) => {
    response.writeHead(200, { "content-type": "text/csv", "content-disposition": "attachment" });
    response.end("1;2;3\n".repeat(2_000));
  },
});

const asked = {
  steps: ["fill 'Name' with secret 'PASSWORD'", "screenshot 'filled'", "click link 'Data'"],
  assertions: ["h1 is 'Good'", "download 'data.csv'", "h1 contains 'Bad' within 1ms"],
  evidence: ["full_page", "har"] as const,
};

it.runIf(process.platform === "linux")(
  "a full disk costs no verdict, and keeps nothing half-written or with a secret",
  async (ctx) => {
    const folder = join(await folderOf("full"), "runs");
    await mkdir(folder);
    await run("mount", ["-t", "tmpfs", "-o", "size=40k", "tmpfs", folder]).catch(() =>
      ctx.skip("needs root"),
    );
    onTestFinished(() => void run("umount", ["--lazy", folder]));
    const lab = makeTester({ runs: new RunStore({ folder }) });
    onTestFinished(() => lab.close());
    const report = await lab.run({ ...asked, url: web.url });
    expect(report.failed_step).toBeUndefined();
    expect(report.assertions.map(({ passed }) => passed)).toEqual([true, true, false]);
    const home = join(folder, report.run_id ?? "");
    const files = await readdir(home);
    for (const name of files) await expectWhole(join(home, name));
    const [note = ""] = report.notes ?? [];
    expect(note).toMatch(
      /^not kept in .* \(no space left on device\).*; --output-dir chooses another folder$/,
    );
    const lost = note.replace(`not kept in ${home}: `, "").match(/[\w.-]+(?=, | \()/g) ?? [];
    const names = ["home-filled.png", "home.har", "home.png", "report.json"];
    expect([...files, ...lost].sort()).toEqual(names);
    const linked = report.artifacts?.map(({ name }) => name) ?? [];
    expect([...linked, "report.json"].sort()).toEqual(files.sort());
  },
);
