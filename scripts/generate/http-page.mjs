// The generated part of docs/http.md: the options for HTTP and for operation.

/** Headings of `--help`. */
const HEADINGS = ["HTTP", "Operation"];

/** @param {import("./surface.mjs").Server[]} servers */
export function httpParts([first]) {
  const flags = new Set(
    first?.options.flatMap(({ heading, flag }) => (HEADINGS.includes(heading ?? "") ? [flag] : [])),
  );
  const [head, line, ...rows] = (first?.commonOptionTable ?? "").split("\n");
  const kept = rows.filter((row) => flags.has(/^\| `--([\w-]+)/.exec(row)?.[1] ?? ""));
  return { options: [head, line, ...kept].join("\n").replaceAll("REFMCP_NAME_", "REFMCP_MEMORY_") };
}
