// Query rows: a sortable grid, a chart, and paging.
import "./view.css";
import "./sheet.css";
import "./marks.css";
import "./rows.css";
import { chartOf, KINDS, type Kind } from "./chart.ts";
import { button, plain, toggle } from "./controls.ts";
import { element, Host, textOf } from "./host.ts";
import { compare, hasNumbers, shown, type Table, tableOf } from "./table.ts";

/**
 * Shows the results of a query tool.
 *
 * @param tool its name, to load the next page
 */
export function showRows(tool: string): void {
  const host = new Host();
  let given: Record<string, unknown> = {};
  host.onInput = (input) => {
    given = input;
  };
  host.onResult = (result) => {
    const table = tableOf(result);
    if (table !== undefined) {
      const next = (cursor: string) => host.callTool(tool, { ...given, cursor });
      document.body.replaceChildren(rowsPage(table, next, given));
    } else {
      const { text = textOf(result) } = (result.structuredContent ?? {}) as { text?: string };
      document.body.replaceChildren(plain(text, result.isError));
    }
  };
  void host.connect("refmcp-rows");
}

type Next = (cursor: string) => ReturnType<Host["callTool"]>;

function rowsPage(first: Table, next: Next, given: Readonly<Record<string, unknown>>): HTMLElement {
  let table = first;
  const facts = element("p", { class: "facts", role: "status" });
  const more = button("Load more rows");
  const wrap = toggle("Wrap text", (on) => grid.box.classList.toggle("wrapped", on));
  const draw = toggle("Chart", (on) => show(on));
  const grid = gridOf(() => table);
  const chart = chartPanel(() => table, given);
  const place = element("div");
  const notes = element("p", { class: "note" });
  const show = (isChart: boolean) => {
    draw.setAttribute("aria-pressed", String(isChart));
    wrap.hidden = isChart;
    place.replaceChildren(isChart ? chart.panel : grid.box);
    if (isChart) chart.draw();
  };
  const updateFacts = () => {
    const rest = table.next === undefined ? "" : "; there are more";
    facts.textContent = `${table.rows.length.toLocaleString()} ${table.rows.length === 1 ? "row" : "rows"}${rest}`;
    more.hidden = table.next === undefined;
    notes.textContent = table.notices.join(" ");
    notes.hidden = table.notices.length === 0;
  };
  more.addEventListener("click", async () => {
    if (table.next === undefined || more.disabled) return;
    more.disabled = true;
    facts.textContent = "Loading …";
    const page = await next(table.next).then(
      (result) => tableOf(result) ?? textOf(result),
      (error: Error) => error.message,
    );
    more.disabled = false;
    if (typeof page === "string") {
      facts.textContent = page;
      return;
    }
    table = { ...page, rows: [...table.rows, ...page.rows] };
    grid.fill();
    if (draw.getAttribute("aria-pressed") === "true") chart.draw();
    updateFacts();
  });
  draw.hidden = !first.columns.some((_, index) => hasNumbers(first.rows, index));
  grid.fill();
  updateFacts();
  show(given.format === "chart" && !draw.hidden);
  return element("main", {}, element("div", { class: "bar" }, facts, draw, wrap, more), place, notes);
}

/** A scrolling grid. Clicking a column sorts it up, then down, then restores the original order. */
function gridOf(table: () => Table) {
  let sorted = -1;
  let direction = 1;
  const body = element("tbody");
  const numeric = table().columns.map((_, index) => hasNumbers(table().rows, index));
  const heads = table().columns.map(({ name, type }, index) => {
    const sort = button(name);
    if (type !== "") sort.append(element("small", {}, type));
    sort.addEventListener("click", () => {
      if (sorted !== index) [sorted, direction] = [index, 1];
      else if (direction === 1) direction = -1;
      else sorted = -1;
      fill();
    });
    return element("th", { scope: "col", class: numeric[index] ? "number" : "" }, sort);
  });
  const fill = () => {
    const rows = [...table().rows];
    if (sorted >= 0) rows.sort((one, other) => direction * compare(one[sorted], other[sorted]));
    heads.forEach((head, index) => {
      if (index === sorted) head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    body.replaceChildren(
      ...rows.map((row) => element("tr", {}, ...row.map((value, index) => cell(value, numeric[index])))),
    );
  };
  const head = element("thead", {}, element("tr", {}, ...heads));
  const grid = element("table", {}, element("caption", { class: "spoken" }, "Rows of the query"), head, body);
  const box = element("div", { class: "box", tabindex: "0", role: "region", "aria-label": "Rows" }, grid);
  return { box, fill };
}

function cell(value: unknown, isNumber = false): HTMLTableCellElement {
  const classes = [...(isNumber ? ["number"] : []), ...(value === null ? ["null"] : [])].join(" ");
  return element("td", classes === "" ? {} : { class: classes }, shown(value));
}

/** A chart, with controls for what it draws; it starts with what the call asked for. */
function chartPanel(table: () => Table, given: Readonly<Record<string, unknown>>) {
  const { columns, rows } = table();
  const asked = (given.chart ?? {}) as { type?: Kind; x?: string; y?: string[] };
  const names = columns.map(({ name }, index) => [String(index), name] as const);
  const kind = select(
    "Type",
    KINDS.map((name) => [name, name] as const),
    asked.type ?? "bar",
  );
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const x = select("By", names, String(Math.max(at(asked.x ?? ""), 0)));
  const numbers = columns.flatMap((_, index) => (hasNumbers(rows, index) ? [index] : []));
  const fallback = numbers.filter((index) => String(index) !== x.input.value).slice(0, 1);
  const chosen = new Set(asked.y?.map(at) ?? (fallback.length === 0 ? numbers.slice(0, 1) : fallback));
  const boxes = numbers.map((index, series) => {
    const input = element("input", { type: "checkbox" });
    input.checked = chosen.has(index);
    const swatch = element("span", { class: `swatch s${series % 8}` });
    return { index, input, label: element("label", {}, input, swatch, columns[index]?.name ?? "") };
  });
  const legend = element("legend", { class: "spoken" }, "Values");
  const values = element("fieldset", {}, legend, ...boxes.map(({ label }) => label));
  const place = element("div");
  const note = element("p", { class: "note", role: "status" });
  const draw = () => {
    const ys = boxes.flatMap(({ index, input }, color) => (input.checked ? { index, color } : []));
    const { drawing, drawn } = chartOf(kind.input.value as Kind, table(), Number(x.input.value), ys);
    place.replaceChildren(drawing);
    const all = table().rows.length;
    note.textContent = drawn < all ? `The first ${drawn} of ${all} rows are drawn.` : "";
  };
  for (const input of [kind.input, x.input, ...boxes.map((box) => box.input)])
    input.addEventListener("change", draw);
  const bar = element("div", { class: "bar" }, kind.label, x.label, values);
  return { panel: element("div", { class: "box chart" }, bar, place, note), draw };
}

function select(name: string, options: readonly (readonly [string, string])[], value: string) {
  const input = element(
    "select",
    {},
    ...options.map(([key, text]) => element("option", { value: key }, text)),
  );
  input.value = value;
  return { input, label: element("label", {}, `${name} `, input) };
}
