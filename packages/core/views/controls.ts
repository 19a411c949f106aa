// Small controls that the views share.
import { element, type Host } from "./host.ts";

/** A button. */
export function button(text: string): HTMLButtonElement {
  return element("button", { type: "button" }, text);
}

/** A button that stays pressed until it is pressed again. */
export function toggle(text: string, set: (on: boolean) => void): HTMLButtonElement {
  const made = element("button", { type: "button", "aria-pressed": "false" }, text);
  made.addEventListener("click", () => {
    const on = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(on));
    set(on);
  });
  return made;
}

/** What a view shows if it cannot render an answer: an error or plain text. */
export function plain(text: string, isError = false): HTMLElement {
  return isError
    ? element("p", { class: "failure", role: "alert" }, text)
    : element("pre", { class: "box", tabindex: "0" }, text);
}

/**
 * A button that shows the view on the whole window and back; hidden in hosts without that mode. The page's root has the
 * attribute `data-display` with the mode, for style sheets.
 */
export function fullscreenButton(host: Host): HTMLButtonElement {
  const made = button("");
  made.hidden = !host.hasFullscreen;
  const label = () => {
    const isFull = host.displayMode === "fullscreen";
    made.textContent = isFull ? "Exit full screen" : "Full screen";
    made.setAttribute("aria-pressed", String(isFull));
  };
  label();
  const { onDisplayMode } = host;
  host.onDisplayMode = (mode) => {
    onDisplayMode(mode);
    label();
  };
  made.addEventListener(
    "click",
    () => void host.requestDisplayMode(host.displayMode === "fullscreen" ? "inline" : "fullscreen"),
  );
  return made;
}

/**
 * Copies a text. Hosts may keep the clipboard from the frames that they show; the older way works there after a click.
 */
export async function copyText(text: string): Promise<void> {
  const isDone = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if (isDone === true) return;
  const field = element("textarea", { class: "spoken" });
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
