import { beforeAll, describe, expect, it } from "vitest";
import { project } from "../../test/fixture.ts";
import { page } from "../../test/lab.ts";
import { folderOf, type Session, session, site } from "../../test/session.ts";

const FORM = page(
  `<h1>Profile</h1><button id="save" onclick="this.after('Saved')">Save</button><button>Cancel</button>`,
);
let talk: Session;
let html = FORM;
let url: string;
beforeAll(async () => {
  const web = await site({
    "/": (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end(html),
  });
  url = web.url;
  talk = await session({ args: ["--project", await project(await folderOf("heal"), {})] });
});

// browser/heal/heal.test.ts has each kind of break, test/heal.long.test.ts those of specs.
describe("pw_heal", () => {
  it("returns the corrected sentence of a failed run, and the runs that prove it", async () => {
    const test = {
      url,
      steps: ["click button 'Save'"],
      assertions: ["'Saved' is visible"],
      evidence: [],
    };
    html = FORM;
    expect((await talk.good("pw_run_test", test)).data["passed"]).toBe(true);
    html = FORM.replace(
      "</body>",
      '<section aria-label="Draft"><button>Save</button></section></body>',
    );
    const failed = await talk.good("pw_run_test", test);
    expect(failed.data["passed"]).toBe(false);
    const { data, text } = await talk.good("pw_heal", { run_id: failed.data["run_id"] });
    expect(data).toMatchObject({
      outcome: "healed",
      changes: [
        {
          where: "steps[0]",
          before: "click button 'Save'",
          after: expect.stringMatching(/^click /),
        },
      ],
      red_runs: [expect.any(String)],
    });
    expect(text).toContain("- click button 'Save'\n+ click ");
    const reports = await talk.good("pw_view_artifact", {
      run_id: data["green_run"],
      name: "report.json",
    });
    expect(JSON.parse(reports.text)).toMatchObject({ passed: true });
  });

  it("takes a run or a file, and says which it needs", async () => {
    for (const given of [{}, { run_id: "20260101-000000-00000000", file: "tasks.spec.js" }]) {
      const { isError, text } = await talk.call("pw_heal", given);
      expect(isError).toBe(true);
      expect(text).toContain("Pass either run_id or file.");
    }
    expect((await talk.call("pw_heal", { run_id: "20260101-000000-00000000" })).text).toContain(
      "There is no run",
    );
    expect((await talk.call("pw_heal", { file: "none.spec.js" })).text).toContain(
      "No test of the project matches",
    );
  });
});
