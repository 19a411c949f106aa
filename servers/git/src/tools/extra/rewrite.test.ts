import { describe, expect, it } from "vitest";
import { commitFiles, useSample } from "../../../test/fixture.ts";

const sample = useSample("clean");
describe("x", () => {
  it("y", async () => {
    const { call, git, root } = sample();
    for (const n of ["a", "b", "c", "d"])
      commitFiles(root, `Add ${n}`, { [`${n}.txt`]: `${n}\n`, "src/app.ts": `${n}\n` });
    const steps = [
      { commit: "HEAD~1", action: "pick" },
      { commit: "HEAD", action: "pick" },
      { commit: "HEAD~3", action: "fixup" },
      { commit: "HEAD~2", action: "fixup" },
    ];
    console.log(
      JSON.stringify(
        (
          await call("git_rewrite", {
            steps: [
              { commit: "HEAD", action: "squash" },
              { commit: "HEAD~3", action: "reword", message: "New a" },
            ],
          })
        ).data,
        null,
        1,
      ),
    );
    let { data } = await call("git_rewrite", { steps });
    console.log(JSON.stringify(data, null, 1));
    data = (
      await call("git_rewrite", {
        steps,
        resolutions: [
          { commit: "HEAD~1", path: "src/app.ts", hunks: ["zz"] },
          { commit: "HEAD~3", path: "src/app.ts", side: "theirs" },
        ],
      })
    ).data;
    console.log(JSON.stringify(data, null, 1));
    const p = await call("git_rewrite", {
      steps: [
        { commit: "HEAD", action: "drop" },
        { commit: "HEAD~3", action: "reword", message: "New a" },
      ],
    });
    console.log(JSON.stringify(p.data, null, 1));
    console.log(
      JSON.stringify((await call("git_rewrite", { apply: p.data.plan })).data, null, 1),
      git("log", "--oneline"),
      git("status", "-sb"),
    );
  });
});
