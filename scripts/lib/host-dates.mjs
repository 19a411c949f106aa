import { importSource } from "./sources.mjs";

const CURRENT_MONTHS = 3;

/**
 * The hosts whose facts were last compared with their documentation more than three months ago, as text, or undefined if
 * there are none.
 *
 * @param {string} [today] YYYY-MM-DD
 * @returns {Promise<string | undefined>}
 */
export async function overdueNote(today = new Date().toISOString().slice(0, 10)) {
  const { HOSTS } = await importSource("packages/refmcp/src/hosts/hosts.ts");
  /** @type {[string, import("../../packages/refmcp/src/hosts/host.ts").Host][]} */
  const hosts = Object.entries(HOSTS);
  const rows = hosts.flatMap(
    ([
      id,
      {
        source: [page, checked],
      },
    ]) => {
      const due = new Date(checked);
      due.setUTCMonth(due.getUTCMonth() + CURRENT_MONTHS);
      return due < new Date(today) ? `  ${id.padEnd(18)} ${checked}  ${page}\n` : [];
    },
  );
  if (rows.length === 0) return undefined;
  return `Compared with their documentation more than three months ago (packages/refmcp/src/hosts/hosts.ts):\n${rows.join("")}`;
}
