// The folder of the daily tasks: 5,000 files of this machine under names as people have them, and what a task needs to be exact.
import { createHash } from "node:crypto";
import {
  copyFile,
  mkdir,
  readdir,
  readFile,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { basename, delimiter, dirname, extname, join } from "node:path";
import { command } from "../../../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../../../scripts/lib/setup.mjs";

/** @typedef {(files: Record<string, Uint8Array>) => Uint8Array} Zip */
/** @typedef {{ path: string, size: number }} Source */

export const COUNT = 5_000;
export const PHRASE = "Nightingale budget";
const MAX_BYTES = 200_000;
const MAX_OF_A_KIND = 400;
const FIRST = Date.UTC(2023, 10, 1);
const DAYS = 1_095;
const DAY = 86_400_000;
const LOG_BYTES = 60_000_000;

/** A number below `max` that depends only on the text. @param {string} text @param {number} max */
function pick(text, max) {
  return createHash("sha256").update(text).digest().readUInt32BE(0) % max;
}

/** What REFMCP_MESSY names: paths of folders, by default those that a Linux system and this workspace have. */
export function sources() {
  const named = process.env["REFMCP_MESSY"]?.split(delimiter);
  return named ?? ["/usr/share", join(ROOT, "node_modules", ".pnpm")];
}

/**
 * Makes the folder.
 *
 * @param {string} root an empty folder
 * @param {Zip} zip
 * @returns {Promise<string | undefined>} why it can't be made, if there are too few files
 */
export async function makeFolder(root, zip) {
  const chosen = await choose();
  if (chosen.length < COUNT) return `REFMCP_MESSY has ${chosen.length} of ${COUNT} suitable files`;
  const targets = new Set();
  const rooms = new Map();
  for (const { path } of chosen) {
    const folder = folderOf(path, rooms);
    const name = messy(basename(path), path);
    let target = join(folder, name);
    for (let i = 1; targets.has(target.toLowerCase()); i++)
      target = join(
        folder,
        `${name.slice(0, name.length - extname(name).length)} (${i})${extname(name)}`,
      );
    targets.add(target.toLowerCase());
    await mkdir(join(root, folder), { recursive: true });
    await copyFile(path, join(root, target));
    await touch(join(root, target), path);
  }
  await makePictures(root);
  await makeTexts(root);
  await makeOffice(root, zip);
  await makeLog(join(root, "Logs", "server.log"));
  const downloads = (await readdir(join(root, "Downloads"))).sort();
  for (let i = 0; i < 40; i++) {
    const name = downloads[i * 17] ?? "";
    const copy = join(root, "Downloads", `Copy ${i} of ${name}`);
    await copyFile(join(root, "Downloads", name), copy);
    await touch(copy, copy);
  }
  await write(join(root, "Videos", "trip.mov"), "");
  await truncate(join(root, "Videos", "trip.mov"), 200_000_000);
  await command("chmod", ["-R", "u+rw,go=r,a+X", root]);
  return undefined;
}

/** Chosen by the hash of their paths, without equal contents, at most 400 with one extension. */
async function choose() {
  /** @type {Source[]} */
  const all = [];
  for (const source of sources()) {
    const entries = await readdir(source, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries)
      if (entry.isFile()) all.push({ path: join(entry.parentPath, entry.name), size: 0 });
  }
  const order = all.map((file) => ({ file, key: pick(file.path, 2 ** 32) }));
  order.sort((a, b) => a.key - b.key || (a.file.path < b.file.path ? -1 : 1));
  const kinds = new Map();
  const contents = new Set();
  const chosen = [];
  for (const { file } of order) {
    const kind = extname(file.path).toLowerCase();
    const of = kinds.get(kind) ?? 0;
    if (of >= MAX_OF_A_KIND || Buffer.byteLength(basename(file.path)) > 150) continue;
    const { size } = await stat(file.path);
    if (size === 0 || size > MAX_BYTES) continue;
    const hash = createHash("sha256")
      .update(await readFile(file.path))
      .digest("hex");
    if (contents.has(hash)) continue;
    contents.add(hash);
    kinds.set(kind, of + 1);
    chosen.push({ path: file.path, size });
    if (chosen.length === COUNT) break;
  }
  return chosen;
}

/** Where a person keeps such a file. @param {string} path @param {Map<string, number>} rooms */
function folderOf(path, rooms) {
  const kind = extname(path).toLowerCase();
  /** @param {string} name @param {number} limit */
  const room = (name, limit) => {
    const used = rooms.get(name) ?? 0;
    rooms.set(name, used + 1);
    return used < limit;
  };
  if (kind === ".md" && room("Notes", 200)) return join("Documents", "Notes");
  if (/^\.(html?|ps|pdf)$/.test(kind) && room("Articles", 120))
    return join("Documents", "Articles");
  if (/^\.(js|css|scss)$/.test(kind) && room("Site", 40)) return join("Documents", "Site");
  if (/^\.(png|svg|gif|jpe?g|webp)$/.test(kind) && room("Saved", 500))
    return join("Pictures", "Saved");
  if (room("Desktop", 140)) return "Desktop";
  if (room("Project files", 400)) {
    const [project, part] = [pick(`${path} project`, 12), pick(`${path} part`, 5)];
    const name = `PROJECT ${String.fromCharCode(65 + project)}`;
    return join("Old", "Projects", name, `part ${part}`);
  }
  const where = pick(`${path} where`, 10);
  if (where < 4) return "Downloads";
  if (where < 6) return join("Documents", "Müller & Söhne", `${2023 + pick(path, 3)}`);
  const parents = dirname(path).split("/").filter(Boolean).slice(-2);
  return join("Old", "Backup [2022]", ...parents.map((part) => part.slice(0, 60)));
}

/** A name as downloads, cameras and other systems leave it. @param {string} name @param {string} path */
function messy(name, path) {
  const end = extname(name);
  const base = name.slice(0, name.length - end.length);
  switch (pick(`${path} name`, 20)) {
    case 0:
      return `${base} (1)${end}`;
    case 1:
      return `${base} - Kopie${end}`;
    case 2:
      return `Übersicht ${base}${end}`;
    case 3:
      return `Entwürfe ${base}${end}`.normalize("NFD");
    case 4:
      return `[2024] ${base}${end}`;
    case 5:
      return `${base.replaceAll(/[-_]/g, " ")}${end}`;
    case 6:
      return `文件 ${base}${end}`;
    default:
      return name;
  }
}

/** Gives a file a time in these three years. @param {string} file @param {string} seed */
async function touch(file, seed) {
  const time = new Date(
    FIRST + pick(`${seed} day`, DAYS) * DAY + pick(`${seed} second`, 86_400) * 1_000,
  );
  await utimes(file, time, time);
}

/** @param {string} file @param {string | Uint8Array} content */
async function write(file, content) {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  await touch(file, file.slice(-40));
}

/** @param {number} value @param {number} [digits] */
const pad = (value, digits = 2) => String(value).padStart(digits, "0");

/** @param {string} root */
async function makePictures(root) {
  const head = Buffer.from("\xff\xd8\xff\xe0\0\x10JFIF\0", "latin1");
  for (let i = 0; i < 300; i++) {
    const time = new Date(Date.UTC(2025, 0, 3) + Math.floor(i * 1.7) * DAY + (i % 50) * 61_000);
    const [day = "", clock = ""] = time.toISOString().replaceAll(/[-:]/g, "").split(/[T.]/);
    const file = join(root, "Pictures", "Camera", `IMG_${day}_${clock}.jpg`);
    await write(file, Buffer.concat([head, createHash("sha512").update(file.slice(-20)).digest()]));
    await utimes(file, time, time);
  }
  for (let i = 1; i <= 60; i++)
    await write(join(root, "Pictures", "Scans", `scan_${pad(i, 3)}.tif`), `II*\0 page ${i}`);
}

const PEOPLE = "Ada Ben Cem Dana Eva Finn Gita Hugo Ines Jan Kira Leo Mila Nora Otto".split(" ");
const NAMES = "Albers Bauer Celik Dietz Ebert Frank Graf Haas Iden Jung".split(" ");
export const WRITERS = ["Bill Hart", "Mia Jones", "Dave Russo", "Tony Tyler"];

/** @param {string} root */
async function makeTexts(root) {
  const documents = join(root, "Documents");
  for (let i = 1; i <= 30; i++) {
    const sum = pick(`sum ${i}`, 90_000) / 100;
    await write(
      join(documents, "Invoices", `Invoice 2025-${pad(i, 3)}.txt`),
      `Invoice ${i}\n${"Service in hours. ".repeat(pick(`length ${i}`, 60))}\nTotal ${sum} EUR\n`,
    );
  }
  for (let month = 1; month <= 5; month++) {
    const rows = Array.from({ length: 200 }, (_, i) => {
      const seed = `${month} ${i}`;
      return `2025-${pad(month)}-${pad(1 + pick(seed, 28))},${NAMES[pick(seed, 10)]},${pick(`${seed} sum`, 99_999) / 100}`;
    });
    await write(
      join(documents, "Bank", `statement-2025-${pad(month)}.csv`),
      `date,payee,amount\n${rows.join("\n")}\n`,
    );
  }
  for (let i = 0; i < 150; i++) {
    const name = `${PEOPLE[pick(`first ${i}`, 15)]} ${NAMES[pick(`last ${i}`, 10)]}`;
    const folder = join(documents, "Students", `2025${pad(i, 4)}_${name.replace(" ", "_")}`);
    const basic = `Name: ${name}\nID: 2025${pad(i, 4)}\nEmail: s${i}@school.example\nTOEFL: ${70 + pick(`toefl ${i}`, 50)}\n`;
    await write(join(folder, "basic_info.txt"), basic);
    const letter = `To whom it may concern\n\n${"I have taught this student for two years. ".repeat(20)}\n\nGrade: ${"SABCD"[pick(`grade ${i}`, 5)]}\n`;
    await write(join(folder, "recommendation_letter.txt"), letter);
  }
  for (let version = 1; version <= 10; version++) {
    const clauses = Array.from({ length: 80 }, (_, i) => {
      const who = WRITERS[pick(`who ${version} ${i}`, 4)];
      const note =
        pick(`note ${version} ${i}`, 6) === 0 ? ` [${who}: please change this clause ${i}]` : "";
      return `${1 + Math.floor(i / 10)}.${i % 10} ${"The parties agree on what follows here. ".repeat(5)}${note}`;
    });
    await write(join(documents, "Legal", `agreement_v${version}.txt`), `${clauses.join("\n\n")}\n`);
  }
  for (let i = 0; i < 40; i++) {
    const authors = [0, 1, 2].map(
      (j) => `${NAMES[pick(`a ${i} ${j}`, 10)]}, ${PEOPLE[pick(`b ${i} ${j}`, 3)]}`,
    );
    const metas = [...new Set(authors)].map(
      (author) => `<meta name="citation_author" content="${author}"/>`,
    );
    const about =
      i === 23
        ? "It also tells missing knowledge from lacking generalization."
        : "It scores answers.";
    const text = `<html><head><title>Benchmark ${i}</title>\n${metas.join("\n")}\n</head><body>${`<p>Section of paper ${i}. ${about}</p>\n`.repeat(12)}</body></html>\n`;
    await write(
      join(
        documents,
        "Papers",
        `25${pad(1 + (i % 12))}.${pad(pick(`arxiv ${i}`, 99_999), 5)}.html`,
      ),
      text,
    );
  }
  const list = Array.from(
    { length: 800 },
    (_, i) => `${NAMES[pick(`list ${i}`, 10)]} ${pick(`number ${i}`, 60)}`,
  );
  await write(join(documents, "Texts", "addresses.txt"), `${list.join("\n")}\n`);
  const lines = Array.from(
    { length: 1_800 },
    (_, i) => `Line ${i + 1}: ${PEOPLE[pick(`line ${i}`, 15)]} met a friend.`,
  );
  await write(join(documents, "Texts", "novel.txt"), `${lines.join("\n")}\n`);
  await write(
    join(documents, "Texts", "novel draft.txt"),
    `${lines.join("\n").replace("Line 900:", "Line 900, new:")}\n`,
  );
  for (let i = 1; i <= 10; i++)
    await write(
      join(documents, "Texts", "chapters", `chapter_${pad(i)}.txt`),
      `${lines.slice(i * 20, i * 23).join("\n")}\n`,
    );
  const gbk = [0xcf, 0xee, 0xc4, 0xbf, 0xd4, 0xa4, 0xcb, 0xe3, 0xa3, 0xba];
  await write(
    join(documents, "Texts", "预算.txt"),
    Buffer.concat([Buffer.from(gbk), Buffer.from("4711\r\n")]),
  );
  const wide = Buffer.from("\ufeffGrüße aus Köln, Schlüssel 0815\r\n", "utf16le");
  await write(join(documents, "Texts", "Grüße.txt"), wide);
  await write(join(documents, "Texts", "minutes.txt"), `Monday\nThe ${PHRASE} was approved.\n`);
}

/** @param {string} root @param {Zip} zip */
async function makeOffice(root, zip) {
  const folder = join(root, "Documents", "Office");
  const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
  const types = "http://schemas.openxmlformats.org/package/2006/content-types";
  const relations = "http://schemas.openxmlformats.org/package/2006/relationships";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  /** @param {Record<string, string>} parts */
  const pack = (parts) =>
    zip(
      Object.fromEntries(
        Object.entries(parts).map(([name, text]) => [name, new TextEncoder().encode(text)]),
      ),
    );
  /** @param {string} part @param {string} type */
  const base = (part, type) => ({
    "[Content_Types].xml": `${xml}<Types xmlns="${types}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`,
    "_rels/.rels": `${xml}<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="${part}"/></Relationships>`,
  });
  const word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  const text = ["Report of the year", `The ${PHRASE} is on page two.`, "All is well."];
  const body = text.map((line) => `<w:p><w:r><w:t>${line}</w:t></w:r></w:p>`).join("");
  await write(
    join(folder, "Report.docx"),
    pack({
      ...base("word/document.xml", "wordprocessingml.document"),
      "word/document.xml": `${xml}<w:document xmlns:w="${word}"><w:body>${body}</w:body></w:document>`,
    }),
  );
  const cells = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  /** @param {string} name @param {string[][]} rows */
  const sheet = (name, rows) => {
    const data = rows.map((row, y) => {
      const of = row.map((cell, x) => {
        const at = `${String.fromCharCode(65 + x)}${y + 1}`;
        return /^\d+$/.test(cell)
          ? `<c r="${at}"><v>${cell}</v></c>`
          : `<c r="${at}" t="inlineStr"><is><t>${cell}</t></is></c>`;
      });
      return `<row r="${y + 1}">${of.join("")}</row>`;
    });
    return {
      [name]: `${xml}<worksheet xmlns="${cells}"><sheetData>${data.join("")}</sheetData></worksheet>`,
    };
  };
  const rows = Array.from({ length: 200 }, (_, i) => [
    `Item ${i + 1}`,
    `${pick(`cost ${i}`, 900)}`,
    "EUR",
  ]);
  const overrides = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml";
  const book = base("xl/workbook.xml", "spreadsheetml.sheet");
  book["[Content_Types].xml"] = book["[Content_Types].xml"].replace(
    "</Types>",
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${overrides}"/><Override PartName="/xl/worksheets/sheet2.xml" ContentType="${overrides}"/></Types>`,
  );
  await write(
    join(folder, "Budget.xlsx"),
    pack({
      ...book,
      "xl/workbook.xml": `${xml}<workbook xmlns="${cells}" xmlns:r="${office}"><sheets><sheet name="Summary" sheetId="1" r:id="rId1"/><sheet name="Costs" sheetId="2" r:id="rId2"/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": `${xml}<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${office}/worksheet" Target="worksheets/sheet2.xml"/></Relationships>`,
      ...sheet("xl/worksheets/sheet1.xml", [
        ["What", "Value"],
        [PHRASE, "4200"],
      ]),
      ...sheet("xl/worksheets/sheet2.xml", [["Item", "Cost", "Currency"], ...rows]),
    }),
  );
  await write(join(folder, "Minutes.pdf"), pdf(`Minutes: the ${PHRASE} was cut.`));
  const mail = Buffer.from(`Hello,\r\nthe ${PHRASE} is attached – grüß dich.\r\n`).toString(
    "base64",
  );
  const offer = Buffer.from("offer ".repeat(8_000))
    .toString("base64")
    .replaceAll(/.{76}/g, "$&\r\n");
  const part = "\r\n--b1\r\nContent-Transfer-Encoding: base64\r\nContent-Type:";
  await write(
    join(folder, "Offer.eml"),
    `From: Ada <ada@a.example>\r\nTo: Ben <ben@b.example>\r\nSubject: =?UTF-8?B?${Buffer.from("Angebot für März").toString("base64")}?=\r\nDate: Mon, 3 Mar 2025 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b1\r\n${part} text/plain; charset=utf-8\r\n\r\n${mail}${part} application/pdf\r\nContent-Disposition: attachment; filename="offer.pdf"\r\n\r\n${offer}${part} text/csv\r\nContent-Disposition: attachment; filename="prices.csv"\r\n\r\nYSxiCg==\r\n--b1--\r\n`,
  );
  const names = Array.from({ length: 25 }, (_, i) => [
    `album/track ${pad(i + 1)}.txt`,
    `song ${i}\n`,
  ]);
  await write(join(folder, "Album.zip"), pack(Object.fromEntries(names)));
}

/** One page with one line. @param {string} line */
function pdf(line) {
  const stream = `BT /F1 12 Tf 72 720 Td (${line}) Tj ET`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
    `<</Length ${stream.length}>>stream\n${stream}\nendstream`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
  ];
  let text = "%PDF-1.4\n";
  const places = objects.map((object, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return `${pad(at, 10)} 00000 n \n`;
  });
  return `${text}xref\n0 6\n0000000000 65535 f \n${places.join("")}trailer<</Size 6/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
}

/** @param {string} file */
async function makeLog(file) {
  const lines = [];
  let size = 0;
  for (let i = 0; size < LOG_BYTES; i++) {
    const level = i % 90_001 === 40_000 ? "FATAL" : i % 7_500 === 17 ? "ERROR" : "INFO";
    const line = `2026-10-${pad(1 + (Math.floor(i / 30_000) % 30))}T10:${pad(i % 60)}:11Z ${level} request ${i} path=/api/items/${i % 1_000}\n`;
    lines.push(line);
    size += line.length;
  }
  await write(file, lines.join(""));
}
