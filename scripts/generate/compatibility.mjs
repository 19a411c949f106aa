// How a server compares with the official one of its kind, from scripts/generate/official (see scripts/official.mjs).
import { readFile } from "node:fs/promises";
import { code, kebab, listed, table } from "./markdown.mjs";

/** @import { Described, Tool } from "./surface.mjs" */
/** @typedef {ReturnType<typeof import("../lib/official.mjs").compareAnswers>} Compared */
/** @typedef {{ name: string, input: Record<string, string | undefined>, required: string[], answer?: import("../lib/official.mjs").Answer, compared?: Compared }} OfficialTool */
/** @typedef {{ server: string, name: string, version: string, date: string, registry: string, archived?: boolean, source: string, tools: OfficialTool[] }} Facts */

/** The recorded facts about the official server; undefined if there is none. @type {(server: { name: string }) => Promise<Facts | undefined>} */
export async function factsOf({ name }) {
  const file = new URL(`official/${name}.json`, import.meta.url);
  return JSON.parse(await readFile(file, "utf8").catch(() => "null")) ?? undefined;
}

/** One sentence on what a user of the official server keeps. @param {Described} server */
export async function officialPart(server) {
  const facts = await factsOf(server);
  if (facts === undefined) return "";
  const rows = facts.tools.map((tool) => compared(tool, server));
  const missing = facts.tools.filter((_, index) => rows[index]?.here === undefined);
  const fewer = facts.tools.filter((_, index) => rows[index]?.missing.length);
  /** @param {OfficialTool[]} tools */
  const but = (tools) =>
    tools.length === 0 ? "" : ` except for ${listed(tools.map(({ name }) => code(name)))}`;
  const demands = rows
    .filter(({ demanded }) => demanded.length > 0)
    .map(
      ({ here, demanded }) => `; ${code(here?.name ?? "")} requires ${listed(demanded.map(code))}`,
    );
  const official = `official ${facts.archived ? "(archived) " : ""}${server.name} server (${code(facts.name)} ${facts.version})`;
  return `It has every tool${but(missing)} and every parameter${but(fewer)} of the ${official}${demands.join("")}; ${answersText(facts)}. See [the comparison](#against-the-official-server).`;
}

/** @param {Facts} facts */
function answersText({ tools }) {
  /** @param {keyof Compared} field @param {string[]} wanted */
  const count = (field, ...wanted) =>
    tools.filter(({ compared }) => compared !== undefined && wanted.includes(compared[field]))
      .length;
  const all = tools.length;
  if (count("structured", "same", "superset") === all)
    return count("text", "same", "superset") === all
      ? "its answers have every official field, and more"
      : "its structured answers have every official field and more, and the text of most differs";
  const first = count("text", "same first words");
  if (first > 0)
    return first === all
      ? "its answers begin with the same words"
      : "most answers begin with the same words";
  return count("text", "same", "superset", "same lines") === 0
    ? "its answers have a different form"
    : "most answers have a different form";
}

/**
 * Which official tools' answers keep their text, for programs that parse it; empty if nothing was called.
 *
 * @param {{ name: string }} server
 */
export async function keptText({ name }) {
  const { tools = [] } = (await factsOf({ name })) ?? {};
  const rows = Object.entries({
    "Same text, or the same and more": ["same", "superset"],
    "The same lines, and more": ["same lines"],
    "The same first words": ["same first words"],
    "Another form": ["different"],
  }).flatMap(([words, wanted]) => {
    const those = tools.filter(({ compared }) => wanted.includes(compared?.text ?? ""));
    return those.length === 0
      ? []
      : [`${words}: ${those.map((tool) => code(tool.name)).join(", ")}.`];
  });
  return rows.length < 2 ? "" : `For programs that parse the text of answers: ${rows.join(" ")}`;
}

/** @type {Record<keyof Compared, Record<string, string>>} */
const WORDS = {
  structured: {
    same: "same",
    superset: "all fields, and more",
    different: "other fields",
    none: "only there",
    added: "only here",
    "none in either": "none",
  },
  text: {
    same: "same",
    superset: "same, and more",
    "same lines": "same lines, and more",
    different: "different",
    "same first words": "same first words",
  },
};

/** The comparison, tool by tool. @param {Described} server */
export async function comparedPart(server) {
  const facts = await factsOf(server);
  if (facts === undefined) return "";
  const rows = facts.tools.map((tool) => {
    const found = compared(tool, server);
    return [
      code(tool.name),
      hereText(found),
      inputsText(found),
      WORDS.structured[tool.compared?.structured ?? ""] ?? "",
      WORDS.text[tool.compared?.text ?? ""] ?? "",
    ];
  });
  const own = server.tools.filter(({ name }) => !facts.tools.some((tool) => tool.name === name));
  return [
    `Compared with [${code(facts.name)} ${facts.version}](${facts.source}), ${howText(facts)}.`,
    table(["Official tool", "Here", "Parameters", "Structured answer", "Text"], rows),
    `Only here: ${own.map(({ name }) => code(name)).join(", ")}.`,
  ].join("\n\n");
}

/** @param {Facts} facts */
function howText({ registry, date, archived, tools }) {
  const called = tools.some(({ answer }) => answer !== undefined);
  if (called && registry === "npm")
    return `by listing the tools of both servers and calling each on ${date}`;
  const source = `by reading its source${registry === "npm" ? "" : ` of ${date}`}${archived ? " (it is archived)" : ""}`;
  return called ? `${source} and looking for the first words of its answers in ours` : source;
}

/** @param {ReturnType<typeof compared>} found */
function hereText({ here, alias }) {
  if (here === undefined) return "missing";
  const name = alias ? `alias of ${code(here.name)}` : "same name";
  return here.needs === undefined ? name : `${name}, with ${code(`--${kebab(here.needs)}`)}`;
}

/** @param {ReturnType<typeof compared>} found */
function inputsText({ here, missing, demanded, relaxed, changed, added }) {
  if (here === undefined) return "";
  /** @param {string} words @param {string[]} names */
  const list = (words, names) =>
    names.length === 0 ? [] : [`${words} ${names.map(code).join(", ")}`];
  return [
    ...(missing.length + demanded.length + changed.length === 0 ? ["same"] : []),
    ...list("without", missing),
    ...list("newly required:", demanded),
    ...list("another type:", changed),
    ...list("no longer required:", relaxed),
    ...list("new:", added),
  ].join("; ");
}

/**
 * Our tool for an official tool's name, and how its parameters differ.
 *
 * @param {OfficialTool} tool
 * @param {{ tools: Tool[] }} server
 */
function compared(tool, { tools }) {
  const same = tools.find(({ name }) => name === tool.name);
  const here = same ?? tools.find(({ aliases }) => aliases.includes(tool.name));
  const { properties = {}, required = [] } = here?.inputSchema ?? {};
  const official = Object.keys(tool.input);
  return {
    here,
    alias: same === undefined,
    missing: official.filter((name) => properties[name] === undefined),
    demanded: required.filter((name) => !tool.required.includes(name)),
    relaxed: tool.required.filter(
      (name) => properties[name] !== undefined && !required.includes(name),
    ),
    changed: official.filter((name) => {
      const ours = properties[name];
      return ours !== undefined && typeOf(ours) !== tool.input[name];
    }),
    added: Object.keys(properties).filter((name) => !official.includes(name)),
  };
}

/** @param {{ type?: string }} schema */
const typeOf = ({ type }) => (type === "integer" ? "number" : type);
