// Daily tasks that move, copy and delete. Each has how a server does it with the fewest calls, and what must be true then.
import { basename, dirname, join } from "node:path";
import {
  ARTICLES,
  BANK,
  CAMERA,
  duplicates,
  each,
  INVOICES,
  KINDS,
  kindOf,
  linesOf,
  list,
  monthOf,
  moveAll,
  officialDuplicates,
  ownDuplicates,
  PAPERS,
  PROJECTS,
  readAll,
  SCANS,
  STUDENTS,
  sizes,
  TEXTS,
  timeOf,
  tree,
  VIDEO,
  write,
  yearOf,
} from "./model.mjs";

/** @typedef {import("../daily.mjs").Agent} Agent */
/** @typedef {import("./world.mjs").World} World */

/** @type {import("./world.mjs").Task[]} */
export const arranging = [
  {
    name: "sort 300 pictures into months",
    changes: true,
    check: (world) =>
      sortedByMonth(world) && world.names(CAMERA).every((name) => /^\d{4}-\d\d$/.test(name)),
    async official(agent) {
      const names = await list(agent, CAMERA);
      await moveAll(
        agent,
        names.map((name) => [join(CAMERA, name), join(CAMERA, monthOf(name), name)]),
      );
    },
    commander: [
      CAMERA,
      'for f in IMG_*.jpg; do d=$(echo "$f" | cut -c5-8)-$(echo "$f" | cut -c9-10); mkdir -p $d && mv -n "$f" $d/; done; ls -d */ | wc -l',
    ],
    async ours(agent) {
      const plan = {
        source: agent.at(CAMERA, "IMG_??????*.jpg"),
        destination: agent.at(CAMERA, "$1$2$3$4-$5$6/$0"),
      };
      await agent.call("move_file", { ...plan, dryRun: true });
      return agent.call("move_file", plan);
    },
  },
  {
    name: "undo this",
    changes: true,
    follows: true,
    check: (world) => world.unchanged(CAMERA),
    async official(agent, world) {
      await moveAll(
        agent,
        world.before(CAMERA).map((name) => [join(CAMERA, monthOf(name), name), join(CAMERA, name)]),
      );
    },
    commander: [CAMERA, "mv -n */*.jpg . && rmdir */"],
    ours: (agent) => agent.call("undo_change", { id: agent.change }),
  },
  {
    name: "file papers into years by their time",
    changes: true,
    check: (world) =>
      world
        .all(ARTICLES)
        .every(({ path, time }) => world.names(`${ARTICLES}/${yearOf(time)}`).includes(path)),
    async official(agent) {
      /** @type {[string, string][]} */
      const pairs = [];
      for (const name of await list(agent, ARTICLES))
        pairs.push([
          join(ARTICLES, name),
          join(ARTICLES, yearOf(await timeOf(agent, agent.at(ARTICLES, name))), name),
        ]);
      await moveAll(agent, pairs);
    },
    commander: [
      ARTICLES,
      'for f in *; do [ -f "$f" ] && d=$(date -r "$f" +%Y) && mkdir -p "$d" && mv -n "$f" "$d/"; done; ls',
    ],
    ours: [
      "move_file",
      {
        source: `~/${ARTICLES}/*`,
        destination: `~/${ARTICLES}/{mtime:yyyy}/$0`,
      },
    ],
  },
  {
    name: "rename a series of 60 scans",
    changes: true,
    check: (world) =>
      world
        .before(SCANS)
        .every((name) => world.names(SCANS).includes(name.replace("scan_", "Contract "))),
    async official(agent) {
      for (const name of await list(agent, SCANS))
        await agent.call("move_file", {
          source: agent.at(SCANS, name),
          destination: agent.at(SCANS, name.replace("scan_", "Contract ")),
        });
    },
    commander: [
      SCANS,
      'for f in scan_*; do mv -n "$f" "Contract $(echo "$f" | cut -c6-)"; done; ls | wc -l',
    ],
    ours: [
      "move_file",
      {
        source: `~/${SCANS}/scan_*`,
        destination: `~/${SCANS}/Contract $1`,
      },
    ],
  },
  {
    name: "rename 12 folders to lower case",
    changes: true,
    check: (world) => world.names(PROJECTS).join() === world.before(PROJECTS).join().toLowerCase(),
    async official(agent) {
      for (const name of await list(agent, PROJECTS, "DIR"))
        await agent.call("move_file", {
          source: agent.at(PROJECTS, name),
          destination: agent.at(PROJECTS, name.toLowerCase()),
        });
    },
    commander: [PROJECTS, 'for d in *; do mv -n "$d" "$(echo "$d" | tr A-Z a-z)"; done; ls'],
    ours: ["move_file", { source: `~/${PROJECTS}/*/`, destination: `~/${PROJECTS}/{name:lower}` }],
  },
  {
    name: "swap two names",
    changes: true,
    check: (world) =>
      world.text(`${TEXTS}/novel.txt`) === world.textBefore(`${TEXTS}/novel draft.txt`) &&
      world.text(`${TEXTS}/novel draft.txt`) === world.textBefore(`${TEXTS}/novel.txt`),
    async official(agent) {
      for (const [from, to] of [
        ["novel.txt", "swap"],
        ["novel draft.txt", "novel.txt"],
        ["swap", "novel draft.txt"],
      ])
        await agent.call("move_file", {
          source: agent.at(TEXTS, from ?? ""),
          destination: agent.at(TEXTS, to ?? ""),
        });
    },
    commander: [
      TEXTS,
      "mv novel.txt swap && mv 'novel draft.txt' novel.txt && mv swap 'novel draft.txt'",
    ],
    ours(agent) {
      const [a, b] = [agent.at(TEXTS, "novel.txt"), agent.at(TEXTS, "novel draft.txt")];
      return agent.call("move_file", {
        moves: [
          { source: a, destination: b },
          { source: b, destination: a },
        ],
      });
    },
  },
  {
    name: "move onto a name that exists, losing nothing",
    changes: true,
    check: (world) => world.unchanged(TEXTS),
    ...each(["official", "commander", "ours"], async (agent) => {
      await agent.try("move_file", {
        source: agent.at(TEXTS, "minutes.txt"),
        destination: agent.at(TEXTS, "novel.txt"),
      });
    }),
  },
  {
    name: "sort a desktop of 140 files by kind",
    changes: true,
    check: (world) =>
      world
        .before("Desktop")
        .every((name) => world.names(join("Desktop", kindOf(name) ?? "")).includes(name)),
    async official(agent) {
      const names = (await list(agent, "Desktop")).filter((name) => kindOf(name) !== undefined);
      await moveAll(
        agent,
        names.map((name) => [join("Desktop", name), join("Desktop", kindOf(name) ?? "", name)]),
      );
    },
    commander: [
      "Desktop",
      "ls | head -200; mkdir Code Archives Data; mv -n *.ts *.cts *.mts *.cjs Code/; mv -n *.gz Archives/; mv -n *.json *.xml *.map Data/",
    ],
    async ours(agent) {
      await agent.call("list_directory", { path: agent.at("Desktop") });
      const moves = Object.entries(KINDS).map(([kind, ends]) => ({
        source: `Desktop/*.${ends.length > 1 ? `{${ends}}` : ends}`,
        destination: `Desktop/${kind}/`,
      }));
      return agent.call("move_file", { moves });
    },
  },
  {
    name: "move 40 duplicates out of the downloads",
    changes: true,
    check: (world) => {
      const moved = world.names("Downloads/duplicates");
      return (
        moved.length === 40 &&
        duplicates(world, "Downloads").every((group) => group.some((path) => moved.includes(path)))
      );
    },
    async official(agent) {
      const doubled = await officialDuplicates(agent);
      await moveAll(
        agent,
        doubled
          .map((group) => group[0] ?? "")
          .map((name) => [join("Downloads", name), join("Downloads/duplicates", name)]),
      );
    },
    commander: [
      "Downloads",
      "mkdir duplicates; find . -maxdepth 1 -type f -exec sha256sum {} + | sort | awk 'seen[$1]++{print substr($0,67)}' | while IFS= read -r f; do mv -n \"$f\" duplicates/; done; ls duplicates",
    ],
    async ours(agent) {
      const doubled = await ownDuplicates(agent);
      const moves = doubled.map(([name = ""]) => ({
        source: join("Downloads", name),
        destination: join("Downloads/duplicates", name),
      }));
      return agent.call("move_file", { moves });
    },
  },
  {
    name: "sort 30 invoices by size into three folders",
    changes: true,
    check: (world) =>
      world
        .all(INVOICES)
        .every(({ path, size }) => world.names(`${INVOICES}/${classOf(size)}`).includes(path)),
    async official(agent) {
      /** @type {[string, string][]} */
      const pairs = [];
      for (const { name, size } of await sizes(agent, INVOICES))
        pairs.push([join(INVOICES, name), join(INVOICES, classOf(size), name)]);
      await moveAll(agent, pairs);
    },
    commander: [
      INVOICES,
      "mkdir small medium large; find . -maxdepth 1 -type f -size -300c -exec mv -n {} small/ \\;; find . -maxdepth 1 -type f -size -700c -exec mv -n {} medium/ \\;; find . -maxdepth 1 -type f -exec mv -n {} large/ \\;; ls *",
    ],
    async ours(agent) {
      const text = await agent.call("list_directory_with_sizes", { path: agent.at(INVOICES) });
      const moves = [...text.matchAll(/^\[FILE\] (\d+) \S+ (.*)$/gm)].map(
        ([, size, name = ""]) => ({
          source: join(INVOICES, name),
          destination: join(INVOICES, classOf(Number(size)), name),
        }),
      );
      return agent.call("move_file", { moves });
    },
  },
  {
    name: "copy a folder",
    changes: true,
    check: (world) => world.unchanged(BANK) && world.hash("Old/Bank") === world.hash(BANK),
    async official(agent) {
      const names = await list(agent, BANK);
      await agent.call("create_directory", { path: agent.at("Old/Bank") });
      for (const [file, text] of await readAll(
        agent,
        names.map((name) => join(BANK, name)),
      ))
        await write(agent, join("Old/Bank", basename(file)), text);
    },
    commander: ["", `cp -a ${BANK} Old/Bank`],
    ours: ["copy_file", { source: `~/${BANK}`, destination: "~/Old/Bank" }],
  },
  {
    name: "copy 72 folders without their files",
    changes: true,
    check(world) {
      const newFolders = world.folders("Old/Empty", world.root).join();
      return (
        newFolders === world.folders(PROJECTS).join() &&
        world.all("Old/Empty", world.root).length === 0
      );
    },
    async official(agent) {
      const { folders } = await tree(agent, PROJECTS);
      for (const folder of leaves(folders))
        await agent.call("create_directory", { path: agent.at("Old/Empty", folder) });
    },
    commander: [PROJECTS, "find . -type d -exec mkdir -p '../Empty/{}' \\;"],
    async ours(agent) {
      const path = agent.at(PROJECTS);
      const text = await agent.call("search_files", {
        path,
        pattern: "**",
        type: "directory",
        limit: 1000,
      });
      const folders = [...text.matchAll(/PROJECT .*(?=\/$)/gm)].map(([folder]) => folder);
      let answer = "";
      for (const folder of leaves(folders))
        answer = await agent.call("create_directory", { path: join("Old/Empty", folder) });
      return answer;
    },
  },
  {
    name: "copy papers into folders of authors with six or more",
    changes: true,
    check: (world) =>
      copiesByAuthor(authorsOf(world)).every(
        ({ from, to }) => world.textBefore(from) === world.text(to),
      ),
    async official(agent) {
      const texts = await readAll(
        agent,
        (await list(agent, PAPERS)).map((name) => join(PAPERS, name)),
      );
      const plan = copiesByAuthor([...texts].flatMap(([file, text]) => authorsIn(file, text)));
      for (const folder of new Set(plan.map(({ to }) => dirname(to))))
        await agent.call("create_directory", { path: agent.at(folder) });
      for (const { from, to } of plan) await write(agent, to, texts.get(from) ?? "");
    },
    commander: [
      PAPERS,
      `grep -o 'citation_author" content="[^"]*' *.html | sed 's/:citation_author" content="/\\t/' | awk -F'\\t' '{a=tolower($2); gsub(/[^a-z0-9]+/,"_",a); n[a]++; f[a]=f[a]" "$1} END {for (a in n) if (n[a]>=6) print a f[a]}' | while read -r a f; do mkdir -p "authors/$a" && cp $f "authors/$a/"; done; ls authors`,
    ],
    async ours(agent) {
      const pattern = 'citation_author" content="[^"]*"';
      const request = { path: agent.at(PAPERS), pattern, limit: 1000 };
      const text = await agent.call("search_text", request);
      /** @type {string[][]} */
      const authors = [];
      let file = "";
      for (const line of linesOf(text)) {
        if (/^\d+:/.test(line)) authors.push(...authorsIn(file, line));
        else file = line;
      }
      const moves = copiesByAuthor(authors).map(({ from, to }) => ({
        source: from,
        destination: to,
      }));
      return agent.call("copy_file", { moves });
    },
  },
  {
    name: "delete a video of 200 MB and get it back",
    changes: true,
    check: (world) => world.size(VIDEO) === 200_000_000,
    ours: (agent, world) => deleteAndRestore(agent, world, VIDEO),
  },
  {
    name: "delete a folder of 300 files and get it back",
    changes: true,
    check: (world) => world.unchanged(STUDENTS),
    ours: (agent, world) => deleteAndRestore(agent, world, STUDENTS),
  },
];

/** @param {World} world */
function sortedByMonth(world) {
  return world
    .before(CAMERA)
    .every((name) => world.names(`${CAMERA}/${monthOf(name)}`).includes(name));
}

/** @param {number} size */
const classOf = (size) => (size < 300 ? "small" : size < 700 ? "medium" : "large");

/** Folders without folders in them. @param {string[]} folders */
const leaves = (folders) =>
  folders.filter((folder) => !folders.some((child) => child.startsWith(`${folder}/`)));

/** Pairs of a paper's name and an author. @param {string} file @param {string} text @returns {string[][]} */
const authorsIn = (file, text) =>
  [...text.matchAll(/author" content="(.*?)"/g)].map(([, author = ""]) => [basename(file), author]);

/** @param {World} world */
const authorsOf = (world) =>
  world.before(PAPERS).flatMap((name) => authorsIn(name, world.textBefore(join(PAPERS, name))));

/** What to copy, from pairs of a paper's name and an author. @param {string[][]} pairs */
function copiesByAuthor(pairs) {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const [name = "", author = ""] of pairs)
    groups.set(author, [...(groups.get(author) ?? []), name]);
  return [...groups].flatMap(([author, names]) =>
    names.length < 6
      ? []
      : names.map((name) => ({
          from: join(PAPERS, name),
          to: join(PAPERS, "authors", author.toLowerCase().replaceAll(/\W+/g, "_"), name),
        })),
  );
}

/** @param {Agent} agent @param {World} world @param {string} path */
async function deleteAndRestore(agent, world, path) {
  await agent.call("delete_file", { path: agent.at(path), recursive: path !== VIDEO });
  if (world.names(dirname(path)).includes(basename(path)))
    throw new Error(`${path} was not deleted.`);
  return agent.call("undo_change", { id: agent.change });
}
