// The table of options in READMEs and docs.
import { code, table } from "./markdown.mjs";

/** @param {import("./surface.mjs").Described["options"]} options */
export function optionTable(options) {
  const rows = options.map(({ label, description, takes, default: preset = "", variables }) => [
    code(label),
    takes.length === 0 ? description : `${description} (${takes.join("; ")})`,
    preset === "" ? "" : code(preset),
    variables.map(code).join(", "),
  ]);
  return table(["Option", "What it does", "Default", "Environment"], rows);
}
