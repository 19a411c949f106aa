// Small controls that the views share.
import { element, type Host } from "./host.ts";

export function button(text: string, kind = ""): HTMLButtonElement {
  return element("button", { type: "button", class: kind }, text);
}

/** A button that can't be pressed again while its work is not done. */
export function workButton(text: string, work: () => Promise<void>): HTMLButtonElement {
  const control = button(text);
  control.addEventListener("click", async () => {
    control.disabled = true;
    await work();
    control.disabled = false;
  });
  return control;
}

/** A button that stays pressed until it is pressed again. */
export function toggle(text: string, set: (on: boolean) => void): HTMLButtonElement {
  const control = button(text);
  control.setAttribute("aria-pressed", "false");
  control.addEventListener("click", () => {
    const on = control.getAttribute("aria-pressed") !== "true";
    control.setAttribute("aria-pressed", String(on));
    set(on);
  });
  return control;
}

/** A button that copies a text; it briefly shows whether that worked. */
export function copyButton(text: () => string, label = "Copy"): HTMLButtonElement {
  const control = workButton(label, async () => {
    control.textContent = (await copied(text())) ? "Copied" : "Cannot copy here";
    setTimeout(() => {
      control.textContent = label;
    }, 1_500);
  });
  return control;
}

/** Copies a text to the clipboard; false if the host's frame does not allow it. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A frame without the clipboard's permission can still copy what is selected.
    const area = element("textarea", { class: "spoken", "aria-hidden": "true" });
    area.value = text;
    const { activeElement } = document;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    if (activeElement instanceof HTMLElement) activeElement.focus();
    return isCopied;
  }
}

/** What a view shows if it cannot render an answer: an error or plain text. */
export function plain(text: string, isError = false): HTMLElement {
  return isError
    ? element("p", { class: "bad text", role: "alert" }, text)
    : element("pre", { class: "box", tabindex: "0" }, text);
}

/**
 * A button that shows the view on the whole window and back; hidden in hosts without that mode. The page's root has the
 * attribute `data-display` with the mode, for style sheets.
 */
export function fullscreenButton(host: Host): HTMLButtonElement {
  const control = button("");
  control.hidden = !host.hasFullscreen;
  const label = () => {
    const isFull = host.displayMode === "fullscreen";
    control.textContent = isFull ? "Exit full screen" : "Full screen";
    control.setAttribute("aria-pressed", String(isFull));
  };
  label();
  const { onDisplayMode } = host;
  host.onDisplayMode = (mode) => {
    onDisplayMode(mode);
    label();
  };
  control.addEventListener(
    "click",
    () => void host.requestDisplayMode(host.displayMode === "fullscreen" ? "inline" : "fullscreen"),
  );
  return control;
}
