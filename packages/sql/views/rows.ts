// Query rows: a grid, a chart, paging, and ways to take the rows elsewhere.
import { oneLine } from "../../boundary/src/answer/untrusted.ts";
import {
  copyButton,
  fullscreenButton,
  plain,
  toggle,
  workButton,
} from "../../core/views/controls.ts";
import { element, Host, textOf } from "../../core/views/host.ts";
import { chartPanel, isDrawable } from "./chart.ts";
import { detailPanel } from "./detail.ts";
import { gridOf } from "./grid.ts";
import { csvOf, type Table, tabbed, tableOf, visibleText } from "./table.ts";

/** Rows that a click loads, in as many calls as the server's limits need. */
const PAGE_ROWS = 1_000;

/**
 * Shows the results of a query tool.
 *
 * @param tool its name, to load the next page
 */
export function showRows(tool: string): void {
  const host = new Host();
  host.onResult = (result) => {
    const table = tableOf(result);
    if (table !== undefined) {
      const next = (cursor: string) => {
        const rows = Math.max(Number(host.input.max_rows ?? 0), PAGE_ROWS);
        return host.callTool(tool, { ...host.input, max_rows: rows, cursor });
      };
      document.body.replaceChildren(rowsPage(host, table, next));
    } else {
      const { text = textOf(result) } = (result.structuredContent ?? {}) as { text?: string };
      document.body.replaceChildren(plain(text, result.isError));
    }
  };
  void host.connect("refmcp-rows");
}

type Next = (cursor: string) => ReturnType<Host["callTool"]>;

function rowsPage(host: Host, first: Table, next: Next): HTMLElement {
  let table = first;
  const [column, ...others] = first.columns;
  if (
    column !== undefined &&
    others.length === 0 &&
    first.rows.length === 1 &&
    first.next === undefined
  )
    return figure(column.name, first);
  const facts = element("p", { class: "facts", role: "status" });
  const more = workButton("Load more rows", async () => {
    const failure = await load();
    grid.fill();
    if (isChart()) chart.draw();
    if (failure !== undefined) facts.textContent = failure;
  });
  const wrap = toggle("Wrap text", (on) => grid.box.classList.toggle("wrapped", on));
  const draw = toggle("Chart", (on) => show(on));
  const filter = element("input", {
    type: "search",
    placeholder: "Filter",
    "aria-label": "Filter the loaded rows",
  });
  const detail = detailPanel();
  const updateFacts = () => {
    facts.textContent = summary(table, grid.rows().length, grid.state());
    more.hidden = table.next === undefined;
    notes.textContent = table.notices.map(oneLine).join(" ");
    notes.hidden = table.notices.length === 0;
  };
  const notes = element("p", { class: "note" });
  const grid = gridOf(() => table, updateFacts, detail.open);
  const chart = chartPanel(() => table);
  const place = element("div");
  const csv = () => csvOf(table, grid.rows());
  const download = workButton("Download CSV", () =>
    host.download("rows.csv", "text/csv", csv()).catch((error: Error) => {
      facts.textContent = error.message;
    }),
  );
  const copies = [
    copyButton(() => tabbed(table, grid.rows())),
    host.hasDownloads ? download : copyButton(csv, "Copy CSV"),
  ];
  const isChart = () => draw.getAttribute("aria-pressed") === "true";
  const show = (on: boolean) => {
    draw.setAttribute("aria-pressed", String(on));
    for (const part of [wrap, filter, ...copies]) part.hidden = on;
    detail.close();
    place.replaceChildren(on ? chart.panel : grid.box);
    if (on) chart.draw();
  };
  filter.addEventListener("input", () => grid.filter(filter.value));
  /** Loads rows until there are enough; returns why it could not. */
  const load = async (): Promise<string | undefined> => {
    const enough = table.rows.length + PAGE_ROWS;
    while (table.next !== undefined && table.rows.length < enough) {
      facts.textContent = `Loading … ${count(table.rows.length)}`;
      const result = await next(table.next);
      const page = tableOf(result);
      if (page === undefined) return textOf(result);
      table = { ...page, rows: [...table.rows, ...page.rows] };
    }
    return undefined;
  };
  draw.hidden = !isDrawable(first);
  grid.fill();
  const bar = element(
    "div",
    { class: "bar" },
    filter,
    draw,
    wrap,
    ...copies,
    fullscreenButton(host),
  );
  const page = element(
    "main",
    {},
    bar,
    place,
    detail.panel,
    element("div", { class: "bar" }, facts, more),
    notes,
  );
  show(false);
  return page;
}

/** One value, as large as it deserves. */
function figure(name: string, { rows, notices }: Table): HTMLElement {
  const value = rows[0]?.[0];
  const text =
    typeof value === "number"
      ? value.toLocaleString(undefined, { maximumFractionDigits: 20 })
      : visibleText(value);
  const parts = [
    element("b", { class: text.length > 20 ? "long" : "figure" }, text),
    element("p", { class: "note" }, oneLine(name)),
    ...(notices.length === 0
      ? []
      : [element("p", { class: "note" }, notices.map(oneLine).join(" "))]),
  ];
  return element("main", { class: "box panel" }, ...parts);
}

const count = (rows: number) => `${rows.toLocaleString()} ${rows === 1 ? "row" : "rows"}`;

/** How many rows there are, and which of them sorting and the filter cover. */
function summary(
  { rows, next }: Table,
  matches: number,
  { isFiltered, sortedBy }: { readonly isFiltered: boolean; readonly sortedBy: string | undefined },
): string {
  const loaded =
    next === undefined
      ? count(rows.length)
      : `the ${rows.length.toLocaleString()} loaded ${rows.length === 1 ? "row" : "rows"}`;
  const parts = [
    isFiltered ? `${matches.toLocaleString()} of ${loaded} match` : undefined,
    sortedBy === undefined
      ? undefined
      : `sorted by ${sortedBy}: ${next === undefined ? "all rows" : `only ${loaded}`}`,
  ].filter((part) => part !== undefined);
  const all = isFiltered ? [] : [count(rows.length)];
  return [...all, ...parts, ...(next === undefined ? [] : ["there are more"])].join("; ");
}
