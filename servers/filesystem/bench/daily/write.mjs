// Daily tasks that write: split, change and create texts.
import { join } from "node:path";
import {
  LOG,
  linesOf,
  list,
  NOTES,
  namesakes,
  readAll,
  STUDENTS,
  sameLines,
  TEXTS,
  withoutFacts,
  write,
} from "./model.mjs";

/** @typedef {import("../daily.mjs").Agent} Agent */
/** @typedef {import("./world.mjs").World} World */

const NOVEL = `${TEXTS}/novel.txt`;
const WORD = /\bJavaScript\b/g;
const ENTRY = "2026-11-01T00:00:00Z INFO closed\n";

/** @type {import("./world.mjs").Task[]} */
export const writing = [
  {
    name: "split a text of 1,800 lines into three",
    changes: true,
    check: (world) =>
      [0, 1, 2].every(
        (i) => world.text(`${TEXTS}/part ${i + 1}.txt`) === third(world.textBefore(NOVEL), i),
      ),
    async official(agent) {
      const text = `${await agent.call("read_text_file", { path: agent.at(NOVEL) })}`;
      for (const i of [0, 1, 2]) await write(agent, `${TEXTS}/part ${i + 1}.txt`, third(text, i));
    },
    commander: [
      TEXTS,
      "split -l 600 --numeric-suffixes=1 -a 1 --additional-suffix=.txt novel.txt 'part '; ls",
    ],
    async ours(agent) {
      for (const i of [0, 1, 2]) {
        const range = { offset: 600 * i + 1, limit: 600 };
        const answer = await agent.call("read_text_file", { path: agent.at(NOVEL), ...range });
        await write(agent, `${TEXTS}/part ${i + 1}.txt`, withoutFacts(answer));
      }
    },
  },
  {
    name: "extract lines 1,000 to 1,200 into a new file",
    changes: true,
    check: (world) =>
      world.text(`${TEXTS}/passage.txt`).trimEnd() ===
      linesOf(world.textBefore(NOVEL)).slice(999, 1_200).join("\n"),
    async official(agent) {
      const head = await agent.call("read_text_file", { path: agent.at(NOVEL), head: 1_200 });
      await write(
        agent,
        `${TEXTS}/passage.txt`,
        `${head.split("\n").slice(999, 1_200).join("\n")}\n`,
      );
    },
    commander: [TEXTS, "sed -n 1000,1200p novel.txt > passage.txt"],
    async ours(agent) {
      const range = { offset: 1_000, limit: 201 };
      const answer = await agent.call("read_text_file", { path: agent.at(NOVEL), ...range });
      await write(agent, `${TEXTS}/passage.txt`, withoutFacts(answer));
    },
  },
  {
    name: "append a line to a log of 60 MB",
    changes: true,
    check: (world) =>
      world.size(LOG) === world.size(LOG, world.original) + ENTRY.length &&
      world.end(LOG, 200).endsWith(`\n${ENTRY}`),
    commander: ["", `echo '${ENTRY.trim()}' >> ${LOG}`],
    ours: ["write_file", { path: `~/${LOG}`, content: ENTRY, mode: "append" }],
  },
  {
    name: "replace a word in 135 notes",
    changes: true,
    check: (world) =>
      world
        .before(NOTES)
        .every((name) =>
          same(
            world.text(`${NOTES}/${name}`),
            world.textBefore(`${NOTES}/${name}`).replaceAll(WORD, "ECMAScript"),
          ),
        ),
    async official(agent) {
      const names = await list(agent, NOTES);
      const texts = await readAll(
        agent,
        names.map((name) => join(NOTES, name)),
      );
      for (const [file, text] of texts) {
        const lines = text.split("\n").filter((line) => line.search(WORD) >= 0);
        const edits = lines.map((line) => ({
          oldText: line,
          newText: line.replaceAll(WORD, "ECMAScript"),
        }));
        if (edits.length > 0) await agent.call("edit_file", { path: agent.at(file), edits });
      }
    },
    commander: [
      NOTES,
      "grep -lw JavaScript *.md | tr '\\n' '\\0' | xargs -0 sed -i 's/\\bJavaScript\\b/ECMAScript/g'",
    ],
    ours: [
      "edit_file",
      {
        path: `~/${NOTES}`,
        glob: "*.md",
        edits: [{ oldText: "\\bJavaScript\\b", newText: "ECMAScript" }],
        regex: true,
        replace_all: true,
      },
    ],
  },
  {
    name: "write a note in a new folder",
    changes: true,
    check: (world) => world.text("Documents/Diary/2026/monday.md") === "# Monday\n\nRain.\n",
    async official(agent) {
      await agent.call("create_directory", { path: agent.at("Documents/Diary/2026") });
      await write(agent, "Documents/Diary/2026/monday.md", "# Monday\n\nRain.\n");
    },
    async commander(agent) {
      await agent.call("create_directory", { path: agent.at("Documents/Diary/2026") });
      return agent.call("write_file", {
        path: agent.at("Documents/Diary/2026/monday.md"),
        content: "# Monday\n\nRain.\n",
        mode: "rewrite",
      });
    },
    ours: [
      "write_file",
      {
        path: "~/Documents/Diary/2026/monday.md",
        content: "# Monday\n\nRain.\n",
        create_parents: true,
      },
    ],
  },
  {
    name: "write down who of 150 students share a name",
    changes: true,
    check(world) {
      const infos = world
        .before(STUDENTS)
        .map((name) => world.textBefore(`${STUDENTS}/${name}/basic_info.txt`));
      return sameLines(world.text("Documents/namesake.txt"), namesakes(infos.join("")));
    },
    async official(agent) {
      const folders = await list(agent, STUDENTS, "DIR");
      const texts = await readAll(
        agent,
        folders.map((name) => `${STUDENTS}/${name}/basic_info.txt`),
      );
      await write(agent, "Documents/namesake.txt", namesakes([...texts.values()].join("")));
    },
    commander: [
      STUDENTS,
      `awk -F': ' '/^Name/{n=$2} /^ID/{c[n]++; ids[n]=(ids[n]?ids[n]", ":"")$2} END{for(n in c) if(c[n]>1) printf "name: %s\\ncount: %d\\nids: %s\\n\\n",n,c[n],ids[n]}' */basic_info.txt > ../namesake.txt`,
    ],
    async ours(agent) {
      // The names of the folders have all of it, but only the files are sure.
      const request = {
        path: agent.at(STUDENTS),
        pattern: "^(Name|ID): ",
        glob: "basic_info.txt",
        limit: 1_000,
      };
      const text = await agent.pages("search_text", request);
      return agent.call("write_file", {
        path: agent.at("Documents/namesake.txt"),
        content: namesakes(text.replaceAll(/^(?!\d+:).*\n/gm, "")),
      });
    },
  },
  {
    name: "choose students by their grade and test",
    changes: true,
    check: (world) =>
      sameLines(
        world.text("Documents/qualified.txt"),
        qualified(
          world
            .before(STUDENTS)
            .map((name) =>
              [
                world.textBefore(`${STUDENTS}/${name}/basic_info.txt`),
                world.textBefore(`${STUDENTS}/${name}/recommendation_letter.txt`),
              ].join(""),
            ),
        ),
      ),
    async official(agent) {
      const folders = await list(agent, STUDENTS, "DIR");
      const files = folders.flatMap((name) => [
        `${STUDENTS}/${name}/basic_info.txt`,
        `${STUDENTS}/${name}/recommendation_letter.txt`,
      ]);
      const texts = await readAll(agent, files);
      const students = folders.map(
        (name) =>
          `${texts.get(`${STUDENTS}/${name}/basic_info.txt`)}${texts.get(`${STUDENTS}/${name}/recommendation_letter.txt`)}`,
      );
      await write(agent, "Documents/qualified.txt", qualified(students));
    },
    commander: [
      STUDENTS,
      `for d in */; do grep -q '^Grade: [SA]' "$d/recommendation_letter.txt" && awk -F': ' '/^Name/{n=$2} /^ID/{i=$2} /^Email/{e=$2} /^TOEFL/{if($2>=100) printf "name: %s\\nid: %s\\nemail: %s\\n\\n",n,i,e}' "$d/basic_info.txt"; done > ../qualified.txt`,
    ],
    async ours(agent) {
      const good = await agent.call("search_text", {
        path: agent.at(STUDENTS),
        pattern: "^Grade: [SA]$",
        mode: "files",
        limit: 1_000,
      });
      const able = await agent.call("search_text", {
        path: agent.at(STUDENTS),
        pattern: "^TOEFL: 1\\d\\d",
        mode: "files",
        limit: 1_000,
      });
      const both = [...able.matchAll(/^.*(?=\/basic_info)/gm)]
        .map(([folder]) => folder)
        .filter((folder) => good.includes(`${folder}/`));
      const text = await agent.call("read_multiple_files", {
        paths: both.map((folder) => `${folder}/basic_info.txt`),
      });
      const chosen = text
        .split(/(?=^Name: )/m)
        .slice(1)
        .map((part) => `${part}\nGrade: A`);
      return agent.call("write_file", {
        path: agent.at("Documents/qualified.txt"),
        content: qualified(chosen),
      });
    },
  },
];

/** @param {string} text @param {number} i */
const third = (text, i) =>
  `${linesOf(text)
    .slice(600 * i, 600 * (i + 1))
    .join("\n")}\n`;

/** The same except for line endings, which the official server changes. @param {string} a @param {string} b */
const same = (a, b) => a.replaceAll("\r", "") === b.replaceAll("\r", "");

/** Students with a good grade and test. @param {string[]} students each with all that is known */
function qualified(students) {
  const good = students.filter(
    (text) => /^Grade: [SA]/m.test(text) && Number(/^TOEFL: (\d+)/m.exec(text)?.[1]) >= 100,
  );
  const value = (/** @type {string} */ text, /** @type {string} */ key) =>
    new RegExp(`^${key}: (.*)`, "m").exec(text)?.[1];
  return good
    .map(
      (text) =>
        `name: ${value(text, "Name")}\nid: ${value(text, "ID")}\nemail: ${value(text, "Email")}\n`,
    )
    .join("\n");
}
