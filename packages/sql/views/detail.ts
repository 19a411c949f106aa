// The whole value of a cell, below the grid.
import { oneLine } from "../../boundary/src/answer/untrusted.ts";
import { button, copyButton } from "../../core/views/controls.ts";
import { element } from "../../core/views/host.ts";
import { plainText, type Table, visibleText } from "./table.ts";

/** The panel, and how to open it for a value; closing it leads back to where it was opened. */
export function detailPanel() {
  let value: unknown;
  let origin: HTMLElement | undefined;
  const title = element("p", { class: "facts" });
  const text = element("pre", { tabindex: "0" });
  const shut = button("Close");
  const bar = element(
    "div",
    { class: "bar" },
    title,
    copyButton(() => plainText(value), "Copy value"),
    shut,
  );
  const panel = element(
    "section",
    { class: "box panel", "aria-label": "Value", hidden: "" },
    bar,
    text,
  );
  const close = () => {
    panel.hidden = true;
    origin?.focus();
    origin = undefined;
  };
  shut.addEventListener("click", close);
  panel.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") close();
  });
  const open = (column: Table["columns"][number], cell: unknown, from: HTMLElement) => {
    [value, origin] = [cell, from];
    title.textContent = oneLine(
      [column.name, column.type].filter((part) => part !== "").join(" · "),
    );
    text.textContent = pretty(cell);
    text.classList.toggle("null", cell === null);
    panel.hidden = false;
    shut.focus();
  };
  return { panel, open, close };
}

/** JSON with its structure, whether it came as text or as a value. */
function pretty(value: unknown): string {
  const isBlob = typeof value === "object" && value !== null && "$blob" in value;
  if (isBlob || value === null || value === undefined) return visibleText(value);
  try {
    const parsed: unknown =
      typeof value === "string" && /^\s*[[{]/.test(value) ? JSON.parse(value) : value;
    return typeof parsed === "object"
      ? visibleText(JSON.stringify(parsed, null, 2))
      : visibleText(value);
  } catch {
    return visibleText(value);
  }
}
