import type { CallTool } from "@refmcp/testing";
import type { Solution } from "../run.ts";

/** The lines that search_text found in one file: `NUMBER:TEXT`, or `NUMBER-TEXT` around a match. */
const lines = (found: string) =>
  found.split("\n").flatMap((line) => {
    const [, number, text] = /^(\d+)[:-](.*)$/.exec(line) ?? [];
    return number === undefined || text === undefined ? [] : [{ number: Number(number), text }];
  });

/** The path, relative to the root, of the first file that search_text finds. */
async function fileWith(call: CallTool, pattern: string): Promise<string> {
  const [path = ""] = (await call("search_text", { pattern, mode: "files" })).split("\n");
  return path;
}

export const codebases: Readonly<Record<string, Solution>> = {
  "filesystem/standard/threestudio/code_locating": async (call) => {
    const path = await fileWith(call, 'register\\("zero123-guidance"\\)');
    await call("write_file", { path: "answer.txt", content: path });
  },

  "filesystem/standard/threestudio/output_analysis": async (call) => {
    const system = {
      path: "threestudio/systems/zero123.py",
      offset: 130,
      limit: 20,
      line_numbers: true,
    };
    await call("read_text_file", system);
    const path = await fileWith(call, 'register\\("zero123-guidance"\\)');
    const made = lines(
      await call("search_text", { path, pattern: "guidance_out = \\{", context: 6 }),
    );
    const opening = made.findIndex(({ text }) => text.includes("guidance_out = {"));
    const block = made.slice(
      opening,
      made.findIndex(({ text }, index) => index > opening && text.trim() === "}") + 1,
    );
    const keys = block.flatMap(({ text }) => /"(\w+)":/.exec(text)?.[1] ?? []);
    const [first, last] = [block[1], block.at(-2)];
    await call("write_file", {
      path: "answer.txt",
      content: `guidance_out is a dict with the keys ${keys.join(", ")}: ${path}, lines ${first?.number} to ${last?.number}\n`,
    });
  },

  "filesystem/standard/votenet/dataset_comparison": async (call) => {
    const classes = await call("search_text", {
      path: "sunrgbd/model_util_sunrgbd.py",
      pattern: "type2class ?=",
    });
    const categories = [...classes.matchAll(/'(\w+)':\d/g)].flatMap(
      ([, category]) => category ?? [],
    );
    const names = categories.map((category) => category.replace("_", "_?")).join("|");
    const rows = await call("search_text", {
      path: "scannet/meta_data/scannetv2-labels.combined.tsv",
      pattern: `^\\d+\\t[^\\t]*\\t(?:${names})\\t\\d+`,
      limit: 1_000,
    });
    const counts = new Map(
      categories.map((category) => [category.replace("_", ""), { category, count: 0 }]),
    );
    for (const { text } of lines(rows)) {
      const [, , category = "", count] = text.split("\t");
      const sum = counts.get(category.replace("_", ""));
      if (sum !== undefined) sum.count += Number(count);
    }
    const content = [...counts.values()]
      .map(({ category, count }) => `${category}\n${count}\n`)
      .join("\n");
    await call("write_file", { path: "analysis.txt", content });
  },

  "filesystem/standard/votenet/requirements_writing": async (call) => {
    const readme = await call("search_text", {
      path: "README.md",
      pattern: "with `pip install`|^Install",
      context: 8,
    });
    const listed = lines(readme).flatMap(
      ({ text }) => /^ {4}'?([\w-]+)(?:[<>=][^']*)?'?$/.exec(text)?.[1] ?? [],
    );
    const frameworks = [...readme.matchAll(/Install \[(\w+)\].* and \[(\w+)\]/g)].flatMap(
      ([, ...found]) => found,
    );
    const setup = await call("search_text", { path: "pointnet2/setup.py", pattern: "name='\\w+'" });
    const extension = /name='(\w+)'/.exec(setup)?.[1] ?? "";
    const packages = [
      ...new Set([...frameworks.map((name) => name.toLowerCase()), ...listed, extension]),
    ];
    await call("write_file", { path: "requirements.txt", content: `${packages.join("\n")}\n` });
  },
};
