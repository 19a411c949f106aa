import { importSource } from "./sources.mjs";

/**
 * The hosts whose facts are out of date, as text, or undefined if there are none.
 *
 * @param {string} [today] YYYY-MM-DD
 * @returns {Promise<string | undefined>}
 */
export async function overdueNote(today = new Date().toISOString().slice(0, 10)) {
  const { overdueHosts } = await importSource("packages/refmcp/src/hosts/hosts.ts");
  /** @type {import("../../packages/refmcp/src/hosts/hosts.ts").Host[]} */
  const overdue = overdueHosts(today);
  if (overdue.length === 0) return undefined;
  const rows = overdue.map(
    ({ id, checked, documentation }) => `  ${id.padEnd(18)} ${checked}  ${documentation}\n`,
  );
  return `Compared with their documentation more than three months ago (packages/refmcp/src/hosts/):\n${rows.join("")}`;
}
