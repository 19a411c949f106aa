import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Task, World } from "@refmcp/testing";

const rootOf = (world: World) => world.args[0] ?? "";
const content = (world: World, path: string) =>
  readFile(join(rootOf(world), path), "utf8").catch(() => undefined);
const exists = (world: World, path: string) =>
  stat(join(rootOf(world), path)).then(
    () => true,
    () => false,
  );
export const tasks: readonly Task[] = [
  {
    name: "find where a function is defined",
    prompt: "In which file and line is the function greet defined?",
    async reference(call) {
      const text = await call("search_text", { path: ".", pattern: "function greet" });
      return /greet\.ts/.test(text) ? "src/greet.ts, line 2" : text;
    },
    check: (answer) => answer.includes("src/greet.ts") && answer.includes("2"),
  },
  {
    name: "rename a function everywhere",
    prompt: "Rename greet to welcome in all sources.",
    async reference(call) {
      const edits = [
        { oldText: "greet(", newText: "welcome(" },
        { oldText: "{ greet }", newText: "{ welcome }" },
      ];
      await call("edit_file", { path: ".", glob: "src/*.ts", edits, replace_all: true });
      return "done";
    },
    async check(_answer, world) {
      const [definition, use] = [
        await content(world, "src/greet.ts"),
        await content(world, "src/main.ts"),
      ];
      return (
        definition?.includes("function welcome(") === true &&
        use?.includes('welcome("world")') === true
      );
    },
  },
  {
    name: "read the end of a long file",
    prompt: "What is the last line of large.txt, and how many lines has it?",
    async reference(call) {
      const tail = await call("read_text_file", { path: "large.txt", tail: 1 });
      return `${tail} ${await call("get_file_info", { path: "large.txt" })}`;
    },
    check: (answer) => answer.includes("line 20000 of many") && /20,?000/.test(answer),
  },
  {
    name: "find what takes up the space",
    prompt: "How large are the largest files here, and which is the largest?",
    reference: (call) => call("search_files", { path: ".", pattern: "*", sort: "size" }),
    check: (answer) => answer.includes("large.txt"),
  },
  {
    name: "tidy up and take it back",
    prompt: "Delete old.txt. … Oh, I still need it: bring it back.",
    async reference(call) {
      const deleted = await call("delete_file", { path: "old.txt" });
      await call("undo_change", { id: /Change (\w+-\w+)/.exec(deleted)?.[1] ?? "" });
      const changes = await call("list_changes", { path: "old.txt" });
      return `back again: ${changes}`;
    },
    check: async (answer, world) =>
      answer.includes("back again") && (await content(world, "old.txt")) === "no longer needed\n",
  },
  {
    name: "move a file into a new folder",
    prompt: "Put README.md into a new folder docs, called index.md.",
    async reference(call) {
      await call("create_directory", { path: "docs" });
      await call("move_file", { source: "README.md", destination: "docs/index.md" });
      return "done";
    },
    check: async (_answer, world) =>
      (await exists(world, "docs/index.md")) && !(await exists(world, "README.md")),
  },
  {
    name: "sort hundreds of files into folders",
    prompt:
      "Sort the first 300 files in many (entry-00000.txt to entry-00299.txt) into folders of 100 by the third digit: many/0, many/1 and many/2. Show the plan first.",
    async reference(call) {
      const request = { source: "many/entry-00[0-2]??.txt", destination: "many/$1/$0" };
      await call("move_file", { ...request, dryRun: true });
      return call("move_file", request);
    },
    check: async (answer, world) =>
      answer.includes("300") &&
      (await exists(world, "many/2/entry-00299.txt")) &&
      (await exists(world, "many/entry-00300.txt")) &&
      !(await exists(world, "many/entry-00000.txt")),
  },
  {
    name: "take back a whole tidying",
    prompt:
      "Copy all TypeScript files below src into flat, then undo that, and tell me how many files that was.",
    async reference(call) {
      const copied = await call("copy_file", { source: "src/**/*.ts", destination: "flat/" });
      return call("undo_change", { id: /Change (\w+-\w+)/.exec(copied)?.[1] ?? "" });
    },
    check: async (answer, world) =>
      answer.includes("2") &&
      (await exists(world, "src/main.ts")) &&
      !(await exists(world, "flat")),
  },
  {
    name: "find files by name behind the ignore rules",
    prompt: "Is there an index.js anywhere, also in what git ignores?",
    reference: (call) =>
      call("search_files", { path: ".", pattern: "index.js", include_ignored: true }),
    check: (answer) => answer.includes("node_modules/lib/index.js"),
  },
  {
    name: "describe the project",
    prompt: "Give me an overview of this project: its tree and what the README says.",
    async reference(call) {
      const tree = await call("directory_tree", { path: ".", excludePatterns: ["many"] });
      return `${tree}\n${await call("read_multiple_files", { paths: ["README.md", "src/main.ts"] })}`;
    },
    check: (answer) => answer.includes("greet.ts") && answer.includes("It greets people."),
  },
  {
    name: "write a new file without touching an existing one",
    prompt: "Write CHANGELOG.md with a first entry, but only if there is none.",
    async reference(call) {
      await call("write_file", {
        path: "CHANGELOG.md",
        content: "# Changelog\n\n- First entry.\n",
        mode: "create",
      });
      return "done";
    },
    check: async (_answer, world) =>
      (await content(world, "CHANGELOG.md"))?.includes("First entry") === true,
  },
  {
    name: "see what the largest entry is",
    prompt: "Which file in the project's top folder is the largest?",
    async reference(call) {
      const text = await call("list_directory_with_sizes", { path: ".", sortBy: "size", limit: 5 });
      return text;
    },
    check: (answer) => answer.includes("large.txt"),
  },
  {
    name: "compare a file with its copy",
    prompt:
      "Copy the README to README.old.md, call the project The project in the README, then show how the two differ.",
    async reference(call) {
      await call("copy_file", { source: "README.md", destination: "README.old.md" });
      const edits = [{ oldText: "# A project", newText: "# The project" }];
      await call("edit_file", { path: "README.md", edits });
      return call("compare_files", { from: "README.old.md", to: "README.md" });
    },
    check: (answer) => answer.includes("+# The project"),
  },
  {
    name: "copy a folder",
    prompt: "Make a copy of src called backup.",
    async reference(call) {
      await call("copy_file", { source: "src", destination: "backup" });
      return "done";
    },
    check: async (_answer, world) =>
      (await content(world, "backup/greet.ts"))?.includes("Greets somebody") === true,
  },
];
