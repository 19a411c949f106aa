import { dirname, extname, join } from "node:path";
import type { CallTool } from "@refmcp/testing";
import type { Solution } from "../run.ts";
import { contentsOf, filesOf, wholeFile } from "./reading.ts";

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `file_${String(index + 1).padStart(2, "0")}.txt`);

const write = (call: CallTool, path: string, content: string) =>
  call("write_file", { path, content, create_parents: true });

const split =
  (parts: number): Solution =>
  async (call) => {
    const text = await wholeFile(call, "large_file.txt");
    for (let part = 0; part < parts; part++) {
      const [from, to] = [part, part + 1].map((edge) => Math.round((edge * text.length) / parts));
      await write(
        call,
        `split/split_${String(part + 1).padStart(2, "0")}.txt`,
        text.slice(from, to),
      );
    }
  };

const uppercase =
  (count: number, counted: number): Solution =>
  async (call) => {
    const contents = await contentsOf(call, numbered(counted));
    for (const name of numbered(count))
      await write(call, `uppercase/${name}`, contents.get(name)?.content.toUpperCase() ?? "");
    const counts = [...contents].map(
      ([name, { content }]) => `${name}:${content.trim().split(/\s+/).length}`,
    );
    await write(call, "uppercase/answer.txt", counts.join("\n"));
  };

/** The files that share 30 characters with large_file.txt, with the longest match's place there, from 1. */
async function sharing(call: CallTool): Promise<{ name: string; start: number }[]> {
  const large = await wholeFile(call, "large_file.txt");
  const found: { name: string; start: number }[] = [];
  for (const [name, { content }] of await contentsOf(call, numbered(20))) {
    let best = { length: 29, start: 0 };
    for (let from = 0; from + best.length < content.length; from++) {
      while (
        from + best.length < content.length &&
        large.includes(content.slice(from, from + best.length + 1))
      )
        best = {
          length: best.length + 1,
          start: large.indexOf(content.slice(from, from + best.length + 1)) + 1,
        };
    }
    if (best.start > 0) found.push({ name, start: best.start });
  }
  return found;
}

/** The paths below a directory, relative to it; directories end in a slash. */
async function pathsBelow(call: CallTool, path: string): Promise<string[]> {
  const tree = await call("directory_tree", {
    path,
    max_depth: 20,
    max_entries: 5_000,
    include_ignored: true,
  });
  const open: string[] = [];
  // The first line is the directory itself, two columns to the left of what is in it.
  return tree
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [, indent = "", name] = /^ {2}( *)(\S.*)$/.exec(line) ?? [];
      if (name === undefined || name.startsWith("[") || name === ".DS_Store") return [];
      open.splice(indent.length / 2, Number.POSITIVE_INFINITY, name.replace(/\/$/, ""));
      return [open.join("/") + (name.endsWith("/") ? "/" : "")];
    });
}

export const folders: Readonly<Record<string, Solution>> = {
  "filesystem/easy/file_context/file_splitting": split(3),
  "filesystem/standard/file_context/file_splitting": split(10),
  "filesystem/easy/file_context/uppercase": uppercase(5, 10),
  "filesystem/standard/file_context/uppercase": uppercase(10, 10),

  "filesystem/easy/file_context/pattern_matching": async (call) => {
    await write(call, "answer.txt", (await sharing(call)).map(({ name }) => name).join("\n"));
  },
  "filesystem/standard/file_context/pattern_matching": async (call) => {
    await write(
      call,
      "answer.txt",
      (await sharing(call)).map(({ name, start }) => `${name},${start}`).join("\n"),
    );
  },

  "filesystem/standard/file_context/duplicates_searching": async (call) => {
    const byHash = new Map<string, string[]>();
    for (const [name, { hash }] of await contentsOf(call, numbered(20)))
      byHash.set(hash, [...(byHash.get(hash) ?? []), name]);
    await call("create_directory", { path: "duplicates" });
    for (const name of [...byHash.values()].filter((names) => names.length > 1).flat())
      await call("move_file", { source: name, destination: `duplicates/${name}` });
  },

  "filesystem/standard/file_context/file_merging": async (call) => {
    const smallest = (await filesOf(call, "."))
      .filter(({ name }) => name.endsWith(".txt"))
      .sort((a, b) => a.size - b.size)
      .slice(0, 10)
      .map(({ name }) => name)
      .sort();
    const contents = await contentsOf(call, smallest);
    const merged = smallest
      .map((name) => `${name}\n${contents.get(name)?.content.trim()}\n`)
      .join("\n");
    await write(call, "merged_content.txt", merged);
  },

  "filesystem/easy/file_property/largest_rename": async (call) => {
    const pictures = (await filesOf(call, ".")).filter(({ name }) => name.endsWith(".jpg"));
    const [largest] = pictures.sort((a, b) => b.size - a.size);
    await call("move_file", { source: largest?.name, destination: "largest.jpg" });
  },

  "filesystem/easy/file_property/txt_merging": async (call) => {
    const names = (await filesOf(call, "."))
      .map(({ name }) => name)
      .filter((name) => name.endsWith(".txt"));
    const contents = await contentsOf(call, names);
    await write(call, "merge.txt", [...contents.values()].map(({ content }) => content).join("\n"));
  },

  "filesystem/standard/file_property/size_classification": async (call) => {
    for (const { name, size } of await filesOf(call, ".")) {
      const folder = size < 300 ? "small_files" : size <= 700 ? "medium_files" : "large_files";
      await call("create_directory", { path: folder });
      await call("move_file", { source: name, destination: `${folder}/${name}` });
    }
  },

  "filesystem/standard/file_property/time_classification": async (call) => {
    const days = new Map<string, { name: string; modified: string }[]>();
    // The creation time on Linux is when the data was copied; the archive keeps modification times.
    for (const file of await filesOf(call, ".")) {
      const day = file.modified.slice(5, 10).replace("-", "/");
      days.set(day, [...(days.get(day) ?? []), file]);
    }
    for (const [day, files] of days) {
      await call("create_directory", { path: day });
      for (const { name } of files)
        await call("move_file", { source: name, destination: `${day}/${name}` });
      const sorted = files.sort((a, b) => (a.modified < b.modified ? -1 : 1));
      const lines = [sorted[0], sorted.at(-1)].map((file) => `${file?.name} ${file?.modified}`);
      await write(call, `${day}/metadata_analyse.txt`, lines.join("\n"));
    }
  },

  "filesystem/easy/folder_structure/structure_analysis": async (call) => {
    const found = await call("search_files", {
      path: ".",
      pattern: "*.py",
      include_ignored: true,
      limit: 1_000,
    });
    await write(
      call,
      "structure_analysis.txt",
      String(found.split("\n").filter((line) => /\.py$/.test(line)).length),
    );
  },

  "filesystem/standard/folder_structure/structure_analysis": async (call) => {
    // Paths begin with the folder that contains everything; folders are counted below it.
    const paths = (await pathsBelow(call, "complex_structure")).map(
      (path) => `complex_structure/${path}`,
    );
    const files = paths.filter((path) => !path.endsWith("/"));
    const directories = paths.filter((path) => path.endsWith("/")).map((path) => path.slice(0, -1));
    let size = 0;
    for (const path of ["complex_structure", ...directories]) {
      const listing = await call("list_directory_with_sizes", { path, limit: 1_000 });
      for (const [, bytes] of listing.matchAll(/^\[FILE\] (\d+) /gm)) size += Number(bytes);
    }
    const depth = (path: string) => path.split("/").length;
    const [deepest = ""] = directories.sort((a, b) => depth(b) - depth(a));
    const types = new Map<string, number>();
    for (const path of files) {
      const type = extname(path).slice(1).toLowerCase() || "(no extension)";
      types.set(type, (types.get(type) ?? 0) + 1);
    }
    const report = `total number of files: ${files.length}
total number of folders: ${directories.length}
total size of all files: ${size}

depth: ${depth(deepest)}
${deepest}

${[...types].map(([type, count]) => `${type}: ${count}`).join("\n")}
`;
    await write(call, "structure_analysis.txt", report);
  },

  "filesystem/standard/folder_structure/structure_mirror": async (call) => {
    const paths = await pathsBelow(call, "complex_structure");
    const crowded = (directory: string) =>
      paths.filter((path) => !path.endsWith("/") && dirname(path) === directory).length > 2;
    const kept: string[] = [];
    for (const path of paths.filter((path) => path.endsWith("/")).map((path) => path.slice(0, -1)))
      if (!crowded(path) && (dirname(path) === "." || kept.includes(dirname(path))))
        kept.push(path);
    const [, root = ""] =
      (await call("list_allowed_directories")).match(/^(\/.+) \(argument\)$/m) ?? [];
    const mirrored = (path: string) =>
      join(
        "complex_structure_mirror",
        ...path.split("/").map((name) => (/\d/.test(name) ? `${name}_processed` : name)),
      );
    for (const path of kept.filter((one) => !kept.some((other) => dirname(other) === one)))
      await write(call, `${mirrored(path)}/placeholder.txt`, join(root, mirrored(path)));
  },
};
