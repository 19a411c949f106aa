// Copies text from a frame, in which hosts often forbid the clipboard's own interface.
import { button } from "../../core/views/controls.ts";
import { element } from "../../core/views/host.ts";

const SHOWN_MS = 2_000;

/** A button that copies, and shows for a moment whether it could. */
export function copyButton(name: string, text: () => string): HTMLButtonElement {
  const made = button(name);
  made.addEventListener("click", async () => {
    made.textContent = (await copied(text())) ? "Copied" : "Copying is blocked";
    setTimeout(() => {
      made.textContent = name;
    }, SHOWN_MS);
  });
  return made;
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The old way needs no permission, only a click.
    const area = element("textarea", { class: "spoken", "aria-hidden": "true" });
    area.value = text;
    const { activeElement } = document;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    if (activeElement instanceof HTMLElement) activeElement.focus();
    return isDone;
  }
}
