// The rows as a table: sorted by a column, filtered, with the whole value of a cell.

import { oneLine } from "../../boundary/src/answer/untrusted.ts";
import { button } from "../../core/views/controls.ts";
import { element } from "../../core/views/host.ts";
import { compare, hasNumbers, hasTimes, plainText, type Table, visibleText } from "./table.ts";

const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

/**
 * A scrolling grid. Clicking a column sorts it up, then down, then restores the original order; clicking a cell opens
 * its value.
 *
 * @param changed called when other rows or another order are shown
 * @param open shows a value
 */
export function gridOf(
  table: () => Table,
  changed: () => void,
  open: (column: Table["columns"][number], value: unknown, from: HTMLElement) => void,
) {
  let sorted = -1;
  let direction = 1;
  let wanted = "";
  let rows: Table["rows"] = [];
  const body = element("tbody");
  const columns = table().columns;
  const numeric = columns.map((_, index) => hasNumbers(table().rows, index));
  const solid = columns.map((_, index) => numeric[index] === true || hasTimes(table().rows, index));
  const heads = columns.map(({ name, type }, index) => {
    const sort = button(oneLine(name));
    if (type !== "") sort.append(element("small", {}, oneLine(type)));
    sort.addEventListener("click", () => {
      if (sorted !== index) [sorted, direction] = [index, 1];
      else if (direction === 1) direction = -1;
      else sorted = -1;
      fill();
    });
    return element("th", { scope: "col", class: numeric[index] ? "number" : "" }, sort);
  });
  const cell = (value: unknown, index: number) => {
    const names = [
      ...(numeric[index] ? ["number"] : []),
      ...(solid[index] ? ["solid"] : []),
      ...(value === null ? ["null"] : []),
    ];
    return element("td", { class: names.join(" "), tabindex: "-1" }, visibleText(value));
  };
  const fill = () => {
    const all = table().rows;
    rows =
      wanted === ""
        ? [...all]
        : all.filter((row) => row.some((value) => plainText(value).toLowerCase().includes(wanted)));
    if (sorted >= 0) rows = rows.toSorted((a, b) => direction * compare(a[sorted], b[sorted]));
    heads.forEach((head, index) => {
      if (index === sorted)
        head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    body.replaceChildren(...rows.map((row) => element("tr", {}, ...row.map(cell))));
    body.querySelector("td")?.setAttribute("tabindex", "0");
    changed();
  };
  const openCell = (from: EventTarget | null) => {
    const place = placeOf(from);
    const column = columns[place?.column ?? -1];
    if (place !== undefined && column !== undefined)
      open(column, rows[place.row]?.[place.column], place.cell);
  };
  body.addEventListener("click", ({ target }) => {
    // Text that is being selected is not a click on its cell.
    if (getSelection()?.isCollapsed !== false) openCell(target);
  });
  body.addEventListener("keydown", (event) => {
    const place = placeOf(event.target);
    if (place === undefined) return;
    if (event.key === "Enter") {
      // Otherwise the same key would press the button that gets the focus.
      event.preventDefault();
      openCell(event.target);
    }
    const [down, right] = MOVES[event.key] ?? [0, 0];
    const next = body.rows[place.row + down]?.cells[place.column + right];
    if ((down === 0 && right === 0) || next === undefined) return;
    event.preventDefault();
    place.cell.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  const head = element("thead", {}, element("tr", {}, ...heads));
  const grid = element(
    "table",
    { class: "grid" },
    element("caption", { class: "spoken" }, "Rows of the query"),
    head,
    body,
  );
  const box = element(
    "div",
    { class: "box", tabindex: "0", role: "region", "aria-label": "Rows" },
    grid,
  );
  return {
    box,
    fill,
    filter: (text: string) => {
      wanted = text.toLowerCase();
      fill();
    },
    /** The rows in the order of the grid. */
    rows: () => rows,
    /** What sorting and filtering did, in words. */
    state: () => ({
      isFiltered: wanted !== "",
      sortedBy: sorted < 0 ? undefined : oneLine(columns[sorted]?.name ?? ""),
    }),
  };
}

function placeOf(target: EventTarget | null) {
  const cell = target instanceof Element ? target.closest("td") : null;
  const row = cell?.parentElement;
  if (cell === null || !(row instanceof HTMLTableRowElement)) return undefined;
  return { cell, row: row.sectionRowIndex, column: cell.cellIndex };
}
