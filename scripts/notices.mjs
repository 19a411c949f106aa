// THIRD_PARTY_NOTICES: the licenses of the packages inside a bundle. The license plugins for esbuild read only LICENSE
// files of packages; some of the packages here have their license in the README or name it without its text, and some
// contain other projects' code.
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/** The names of files with licenses. */
export const LICENSE_FILE = /^(licen[cs]e|copyright|notice|copying|third.?party)/i;
/** License texts for packages without one, by SPDX id. */
const STANDARD = new URL("licenses/", import.meta.url);

/** @typedef {{ name: string, version?: string, license?: string, author?: Named, repository?: Named }} Part */
/** @typedef {string | { name?: string, url?: string }} Named */

/**
 * Third-party code in packages without a separate license file. Check it when one is updated.
 *
 * @type {Record<string, Part[]>}
 */
const VENDORED = {
  "pg-copy-streams": [
    {
      name: "obuf",
      license: "MIT",
      author: "2015 Fedor Indutny",
      repository: "https://github.com/indutny/offset-buffer",
    },
  ],
  unpdf: [
    {
      name: "PDF.js",
      license: "Apache-2.0",
      author: "Mozilla Foundation",
      repository: "https://github.com/mozilla/pdf.js",
    },
  ],
};

/**
 * The folders of the npm packages that a bundle was made from.
 *
 * @param {string[]} inputs the files in it
 */
export function bundledPackages(inputs) {
  /** @type {Set<string>} */
  const folders = new Set();
  for (const input of inputs) {
    const path = resolve(input.replace(/\?.*$/, ""));
    // Greedy: a package's dependencies can be in its own node_modules.
    const folder = /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/.exec(path)?.[0];
    if (folder !== undefined) folders.add(folder);
  }
  return [...folders];
}

/**
 * Writes the notices of packages.
 *
 * @param {string} owner what contains them, for example `@refmcp/server-git 0.1.0`
 * @param {string[]} folders the packages' folders
 * @param {string[]} [comments] license comments of source files, as esbuild collects them
 * @returns {Promise<string>}
 * @throws {Error} if a package has no license text and its license no standard text in scripts/licenses.
 */
export async function notices(owner, folders, comments = []) {
  /** @type {Map<string, string>} */
  const entries = new Map();
  for (const folder of folders) {
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    entries.set(
      `${manifest.name} ${manifest.version}`,
      await entry(manifest, await licenseTexts(folder)),
    );
    for (const part of VENDORED[manifest.name] ?? [])
      entries.set(`${part.name} (in ${manifest.name})`, await entry(part, []));
  }
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  const remarks = [...new Set(comments.flatMap(commentBlocks))].sort();
  const rule = "=".repeat(80);
  return [
    `${owner} contains the following third-party software under these licenses.`,
    ...sorted.map(([title, text]) => `${rule}\n${title}\n${text}`),
    ...(remarks.length === 0
      ? []
      : [`${rule}\nNotices in source files\n\n${remarks.join("\n\n")}`]),
  ]
    .join("\n\n")
    .concat("\n");
}

/** @param {Part} part @param {string[]} texts */
async function entry({ name, version, author, repository, ...manifest }, texts) {
  const license = manifest.license ?? licenseIn(name, texts);
  const source = sourceOf(repository);
  const head = [`License: ${license}`, ...(source === undefined ? [] : [`Source: ${source}`])];
  if (String(license).startsWith("MPL"))
    head.push(
      `Source code: the npm package ${name}@${version} and the repository above, under the same license.`,
    );
  const standard = await readFile(new URL(`${license}.txt`, STANDARD), "utf8").catch(
    () => undefined,
  );
  if (texts.length === 0 && standard === undefined)
    throw new Error(
      `${name} ${version} is in the bundle, but has no license file, and scripts/licenses has no text of its license ` +
        `(${license}). Add one as scripts/licenses/${license}.txt, or remove the package.`,
    );
  const all = [...texts];
  // Some packages only have the short notice that refers to the license.
  if (standard !== undefined && !texts.some((text) => text.length > standard.length * 0.6))
    all.push(standard.replace("<copyright holders>", holder(author)));
  return `${head.join("\n")}\n\n${all.map((text) => text.trim()).join("\n\n")}`;
}

/**
 * The license of a package whose manifest names none, by its text.
 *
 * @param {string} name
 * @param {string[]} texts
 * @throws {Error} if that is not the MIT license.
 */
function licenseIn(name, texts) {
  if (texts.some((text) => /^The MIT License/m.test(text))) return "MIT";
  throw new Error(`${name} is in the bundle, and its package.json names no license.`);
}

/** The texts of the license and notice files, else the license section of the README. @param {string} folder */
async function licenseTexts(folder) {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((file) => file.isFile());
  /** @param {string} name */
  const read = async (name) =>
    (await readFile(join(folder, name), "utf8")).replaceAll("\r\n", "\n");
  const licenses = files.filter(({ name }) => LICENSE_FILE.test(name)).map(({ name }) => name);
  // A folder holds the licenses of code that the package contains.
  for (const { name } of entries.filter(
    (entry) => entry.isDirectory() && /^licen[cs]es$/i.test(entry.name),
  ))
    for (const file of await readdir(join(folder, name))) licenses.push(join(name, file));
  if (licenses.length > 0) return Promise.all(licenses.sort().map(read));
  const readme = files.find(({ name }) => /^readme/i.test(name));
  if (readme === undefined) return [];
  const section =
    /^#+ *licen[cs]e[^\n]*\n([\s\S]*?)(?=^#|$(?![\s\S]))/im.exec(await read(readme.name))?.[1] ??
    "";
  return /permission|redistribution/i.test(section) ? [section] : [];
}

/** @param {Named | undefined} repository */
function sourceOf(repository) {
  const url = typeof repository === "string" ? repository : repository?.url;
  if (url === undefined) return undefined;
  if (/^(github:)?[\w.-]+\/[\w.-]+$/.test(url))
    return `https://github.com/${url.replace("github:", "")}`;
  return url
    .replace(/^git\+/, "")
    .replace(/^git@([^:/]+):/, "https://$1/")
    .replace(/^(git|ssh|http):\/\/(git@)?/, "https://")
    .replace(/\.git$/, "");
}

/** The author without the e-mail address. @param {Named | undefined} author */
function holder(author) {
  const name = typeof author === "string" ? author.replace(/\s*[<(].*$/, "") : author?.name;
  return name ?? "the authors";
}

/** The parts of esbuild's *.LEGAL.txt: a file's path, and its comments indented below. @param {string} text */
function commentBlocks(text) {
  return text
    .split(/\n\n(?=\S)/)
    .slice(1)
    .map((block) => block.trim());
}
