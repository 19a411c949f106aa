// Shows an edit, a comparison, or changes from the journal. A dry run of an edit can be applied here, by the user's
// click.
import { button, plain } from "../../../../packages/core/views/controls.ts";
import { type DiffPart, diffPage, partOf } from "../../../../packages/core/views/diff.ts";
import { element, Host, type ToolResult, textOf } from "../../../../packages/core/views/host.ts";

const host = new Host();
let given: Record<string, unknown> = {};

/** The text and the server's last line, in square brackets. */
function partIn(result: ToolResult): DiffPart {
  const text = textOf(result);
  const start = text.lastIndexOf("\n[") + 1;
  if (result.isError || !text.startsWith("[", start)) throw new Error(text);
  return partOf(text.slice(0, start), text.slice(start).replace(/^\[| Hash \w+\.|\]$/g, ""));
}

function show(result: ToolResult, ...actions: HTMLElement[]): void {
  try {
    const load = async (cursor: string) =>
      partIn(await host.callTool("list_changes", { ...given, cursor }));
    document.body.replaceChildren(
      element("main", {}, diffPage(host, partIn(result), load, ...actions)),
    );
  } catch (error) {
    document.body.replaceChildren(plain((error as Error).message, true));
  }
}

/** A button that applies a dry run. */
function applyButton(): HTMLButtonElement {
  const apply = button("Apply this change");
  apply.classList.add("go");
  apply.addEventListener("click", async (event) => {
    // Only a person's click counts, and only one.
    if (!event.isTrusted || apply.disabled) return;
    apply.disabled = true;
    const failed = (error: Error) => ({
      isError: true,
      content: [{ type: "text", text: error.message }],
    });
    const result = await host.callTool("edit_file", { ...given, dryRun: false }).catch(failed);
    show(result);
    const outcome = result.isError ? "That failed:" : "It was applied:";
    await host.tellModel(
      `The user chose to apply the previewed change. ${outcome}\n${textOf(result)}`,
    );
  });
  return apply;
}

host.onInput = (input) => {
  given = input;
};
host.onResult = (result) =>
  show(result, ...(given.dryRun === true && !result.isError ? [applyButton()] : []));
void host.connect("refmcp-diff");
