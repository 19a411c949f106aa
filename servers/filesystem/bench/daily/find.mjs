// Daily tasks that find, count and read: each solution resolves with what the model then knows.
import { join } from "node:path";
import { PHRASE, WRITERS } from "./folder.mjs";
import {
  BANK,
  duplicates,
  hasAll,
  INVOICES,
  LEGAL,
  LOG,
  linesOf,
  list,
  OFFICE,
  OLD,
  officialDuplicates,
  ownDuplicates,
  PAPERS,
  readAll,
  sameLines,
  sizes,
  TEXTS,
  timeOf,
  tree,
} from "./model.mjs";

/** @typedef {import("../daily.mjs").Agent} Agent */
/** @typedef {import("./world.mjs").World} World */

const PYTHON = `import os, re, zlib, zipfile, email
for d, _, fs in os.walk("."):
  for f in fs:
    p = os.path.join(d, f)
    try:
      b = open(p, "rb").read()
      if f.endswith((".docx", ".xlsx", ".pptx", ".odt")):
        z = zipfile.ZipFile(p)
        b = b"".join(z.read(n) for n in z.namelist() if n.endswith(".xml"))
      elif f.endswith(".eml"):
        b = b"".join(m.get_payload(decode=True) or b"" for m in email.message_from_bytes(b).walk())
      elif f.endswith(".pdf"):
        for s in re.findall(rb"stream\\r?\\n(.*?)endstream", b, re.S):
          try: b += zlib.decompress(s)
          except zlib.error: pass
      if b"${PHRASE}" in b: print(p)
    except Exception as e: print(p, e)`;

/** @type {import("./world.mjs").Task[]} */
export const finding = [
  {
    name: "find the newest invoice",
    check: (world, said) =>
      said.includes(byAge(world, INVOICES).at(-1) ?? "?") && linesOf(said).length < 5,
    official: async (agent) => (await timesOf(agent, INVOICES)).at(-1)?.name,
    commander: [INVOICES, "ls -t | head -1"],
    ours: ["search_files", { path: `~/${INVOICES}`, pattern: "*", sort: "mtime", limit: 1 }],
  },
  {
    name: "find the ten oldest downloads",
    check: (world, said) => hasAll(said, byAge(world, "Downloads").slice(0, 10)),
    async official(agent) {
      return (await timesOf(agent, "Downloads"))
        .slice(0, 10)
        .map(({ name }) => name)
        .join("\n");
    },
    commander: ["Downloads", "ls -tr | head -10"],
    async ours(agent) {
      const newest = { pattern: "*", type: "file", sort: "mtime", limit: 1_000 };
      const text = await agent.pages("search_files", { path: agent.at("Downloads"), ...newest });
      const lines = text.split("\n").filter((line) => !line.startsWith("["));
      return lines.slice(-10).join("\n");
    },
  },
  {
    name: "find pages that have not changed since 2025",
    check(world, said) {
      const old = world.all("").filter(({ path, time }) => path.endsWith(".html") && time < OLD);
      return sameLines(said, old.map(({ path }) => path).join("\n"));
    },
    async official(agent) {
      const text = await agent.call("search_files", { path: agent.at(""), pattern: "**/*.html" });
      const old = [];
      for (const path of linesOf(text))
        if ((await timeOf(agent, path)) < OLD) old.push(path.slice(agent.root.length + 1));
      return old.join("\n");
    },
    async commander(agent) {
      const text = await agent.sh("", "find . -name '*.html' ! -newermt '2025-01-01 00:00 UTC'");
      return text.replaceAll(/^\.\//gm, "").trimEnd();
    },
    async ours(agent) {
      const request = { path: agent.at(""), pattern: "*.html", sort: "mtime", limit: 1000 };
      const text = await agent.call("search_files", { ...request, include_ignored: true });
      const matches = [...text.matchAll(/^(\S+Z) (.*)$/gm)].filter(
        ([, time = ""]) => new Date(time) < OLD,
      );
      return matches.map(([, , path = ""]) => path.slice(agent.root.length + 1)).join("\n");
    },
  },
  {
    name: "find the largest folder",
    // The video's blocks aren't on the disk.
    check: (_, said) => /^\W*(Logs|Videos)\b/m.test(said),
    async official(agent) {
      const { folders } = await tree(agent, "");
      const sums = new Map();
      for (const folder of folders) {
        const top = folder.split("/")[0] ?? "";
        for (const { size } of await sizes(agent, folder))
          sums.set(top, (sums.get(top) ?? 0) + size);
      }
      return [...sums].sort((a, b) => b[1] - a[1])[0]?.[0];
    },
    commander: async (agent) =>
      (await agent.sh("", "du -s */ | sort -rn | head -5")).replaceAll(/^\d+\s+/gm, ""),
    ours: async (agent) =>
      /^largest_folders: (.*)/m.exec(
        await agent.call("get_file_info", { path: agent.at("") }),
      )?.[1],
  },
  {
    name: "find the 40 duplicates in the downloads",
    check: (world, said) => duplicates(world, "Downloads").every((group) => hasAll(said, group)),
    official: async (agent) => (await officialDuplicates(agent)).flat().join("\n"),
    commander: [
      "Downloads",
      "find . -type f -exec sha256sum {} + | sort | uniq -w64 -D | cut -c69-",
    ],
    ours: async (agent) => (await ownDuplicates(agent)).flat().join("\n"),
  },
  {
    name: "count files and folders of a backup",
    check: (world, said) =>
      hasAll(said.replaceAll(",", ""), [
        `${world.all("Old").length}`,
        `${world.folders("Old").length}`,
      ]),
    async official(agent) {
      const { files, folders } = await tree(agent, "Old");
      return `${files.length} ${folders.length}`;
    },
    commander: ["Old", "find . -type f | wc -l; find . -mindepth 1 -type d | wc -l"],
    ours: ["get_file_info", { path: "~/Old" }],
  },
  {
    name: "find a phrase in documents, sheets, PDF and mail",
    check: (_, said) =>
      hasAll(said, ["Report.docx", "Budget.xlsx", "Minutes.pdf", "Offer.eml", "minutes.txt"]),
    commander: ["Documents", `python3 - <<'E'\n${PYTHON}\nE`],
    ours: ["search_text", { path: "~/Documents", pattern: PHRASE, literal: true }],
  },
  {
    name: "find the paper on a subject",
    check: (world, said) =>
      world
        .before(PAPERS)
        .every(
          (name) =>
            said.includes(name) === world.textBefore(join(PAPERS, name)).includes("generalization"),
        ),
    async official(agent) {
      const texts = await readAll(
        agent,
        (await list(agent, PAPERS)).map((name) => join(PAPERS, name)),
      );
      return [...texts]
        .flatMap(([file, text]) => (text.includes("generalization") ? [file] : []))
        .join("\n");
    },
    commander: [PAPERS, "grep -li 'generali[sz]ation' *"],
    ours: [
      "search_text",
      {
        path: `~/${PAPERS}`,
        pattern: "generali[sz]ation",
        ignore_case: true,
        mode: "files",
      },
    ],
  },
  {
    name: "count each person's comments in four versions of a contract",
    check(world, said) {
      const text = [5, 6, 7, 8]
        .map((version) => world.textBefore(`${LEGAL}/agreement_v${version}.txt`))
        .join("");
      return said === countComments(text);
    },
    async official(agent) {
      const texts = await readAll(
        agent,
        [5, 6, 7, 8].map((version) => `${LEGAL}/agreement_v${version}.txt`),
      );
      return countComments([...texts.values()].join(""));
    },
    commander: async (agent) =>
      countComments(
        await agent.sh(LEGAL, "grep -oh '\\[[A-Z][a-z]* [A-Z][a-z]*:' agreement_v[5-8].txt"),
      ),
    async ours(agent) {
      const request = { path: agent.at(LEGAL), glob: "agreement_v{5,6,7,8}.txt" };
      return countComments(
        await agent.call("search_text", { ...request, pattern: "\\[\\w+ \\w+:", limit: 1000 }),
      );
    },
  },
  {
    name: "find the fatal errors in a log of 60 MB",
    check: (world, said) =>
      hasAll(
        said,
        world
          .textBefore(LOG)
          .match(/request \d+(?=.*\n)/g)
          ?.filter((_, i) => i % 90_001 === 40_000) ?? ["?"],
      ),
    commander: ["", `grep FATAL ${LOG}`],
    ours: ["search_text", { path: `~/${LOG}`, pattern: " FATAL " }],
  },
  {
    name: "read the last 20 lines of this log",
    check: (world, said) => hasAll(said, linesOf(world.textBefore(LOG).slice(-5_000)).slice(-19)),
    official: ["read_text_file", { path: `~/${LOG}`, tail: 20 }],
    commander: ["read_file", { path: `~/${LOG}`, offset: -20 }],
    ours: ["read_text_file", { path: `~/${LOG}`, tail: 20 }],
  },
  {
    name: "read its first ten lines",
    check: (world, said) =>
      hasAll(said, linesOf(world.textBefore(LOG).slice(0, 5_000)).slice(0, 10)),
    official: ["read_text_file", { path: `~/${LOG}`, head: 10 }],
    commander: ["read_file", { path: `~/${LOG}`, length: 10 }],
    ours: ["read_text_file", { path: `~/${LOG}`, head: 10 }],
  },
  {
    name: "count the rows of a table",
    check: (_, said) => /\b201\b/.test(said),
    official: async (agent) =>
      `${linesOf(await agent.call("read_text_file", { path: agent.at(BANK, "statement-2025-03.csv") })).length}`,
    commander: [BANK, "wc -l statement-2025-03.csv"],
    ours: ["get_file_info", { path: `~/${BANK}/statement-2025-03.csv` }],
  },
  {
    name: "list a zip archive",
    check: (_, said) =>
      Array.from({ length: 25 }, (_, i) => `track ${String(i + 1).padStart(2, "0")}.txt`).every(
        (name) => said.includes(name),
      ),
    commander: [OFFICE, "unzip -l Album.zip || python3 -m zipfile -l Album.zip"],
    ours: ["read_text_file", { path: `~/${OFFICE}/Album.zip` }],
  },
  {
    name: "read a mail and the names of its attachments",
    check: (_, said) => hasAll(said, ["Angebot für März", "grüß dich", "offer.pdf", "prices.csv"]),
    async official(agent) {
      return decoded(await agent.call("read_text_file", { path: agent.at(OFFICE, "Offer.eml") }));
    },
    async commander(agent) {
      return decoded(await agent.call("read_file", { path: agent.at(OFFICE, "Offer.eml") }));
    },
    ours: ["read_text_file", { path: `~/${OFFICE}/Offer.eml` }],
  },
  {
    name: "read a text in GBK",
    check: (_, said) => said.includes("项目预算：4711"),
    commander: [TEXTS, "iconv -f gbk -t utf-8 预算.txt"],
    async ours(agent) {
      const text = await agent.call("read_text_file", { path: agent.at(TEXTS, "预算.txt") });
      if (text.includes("项目预算")) return text;
      return agent.call("read_text_file", { path: agent.at(TEXTS, "预算.txt"), encoding: "gbk" });
    },
  },
  {
    name: "read a text in UTF-16",
    check: (_, said) => said.includes("Grüße aus Köln, Schlüssel 0815"),
    official: ["read_text_file", { path: `~/${TEXTS}/Grüße.txt` }],
    commander: [TEXTS, "iconv -f utf-16 -t utf-8 Grüße.txt"],
    ours: ["read_text_file", { path: `~/${TEXTS}/Grüße.txt` }],
  },
  {
    name: "compare two versions of a text",
    check: (_, said) => said.includes("Line 900, new:") && linesOf(said).length < 30,
    async official(agent) {
      const texts = await readAll(agent, [`${TEXTS}/novel.txt`, `${TEXTS}/novel draft.txt`]);
      const [a = [], b = []] = [...texts.values()].map(linesOf);
      return b.filter((line, i) => line !== a[i]).join("\n");
    },
    commander: [TEXTS, "diff -u novel.txt 'novel draft.txt'"],
    ours: [
      "compare_files",
      {
        from: `~/${TEXTS}/novel.txt`,
        to: `~/${TEXTS}/novel draft.txt`,
      },
    ],
  },
];

/** Names with times, the oldest first, from one call for each. @param {Agent} agent @param {string} folder */
async function timesOf(agent, folder) {
  const times = [];
  for (const name of await list(agent, folder))
    times.push({ name, time: await timeOf(agent, agent.at(folder, name)) });
  return times.sort((a, b) => +a.time - +b.time);
}

/** Names, the oldest first. @param {World} world @param {string} folder */
const byAge = (world, folder) =>
  world
    .all(folder)
    .sort((a, b) => +a.time - +b.time)
    .map(({ path }) => path);

/** @param {string} text */
function countComments(text) {
  return WRITERS.map((name) => `${name}: ${text.split(`[${name}:`).length - 1}`).join(", ");
}

/** What a model can read in Base64 by itself. @param {string} text */
function decoded(text) {
  return text.replaceAll(/^[\w+/]{40,100}={0,2}$|(?<=\?B\?)[^?]+/gm, (base) =>
    Buffer.from(base, "base64").toString(),
  );
}
