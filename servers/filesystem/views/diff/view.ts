// Shows an edit, a comparison, or changes from the journal. A dry run of an edit can be applied here, by the user's
// click.
import { button, plain } from "../../../../packages/core/views/controls.ts";
import { diffPage } from "../../../../packages/core/views/diff.ts";
import { element, Host, type ToolResult, textOf } from "../../../../packages/core/views/host.ts";

const host = new Host();

function show(result: ToolResult, ...actions: HTMLElement[]): void {
  try {
    const page = diffPage(host, result, undefined, ...actions);
    document.body.replaceChildren(element("main", {}, page));
  } catch {
    document.body.replaceChildren(plain(textOf(result), result.isError));
  }
}

/** A button that applies a dry run. */
function applyButton(): HTMLButtonElement {
  const apply = button("Apply this change", "go");
  apply.addEventListener("click", async (event) => {
    // Only a person's click counts, and only one.
    if (!event.isTrusted || apply.disabled) return;
    apply.disabled = true;
    const result = await host.callTool("edit_file", { ...host.input, dryRun: false });
    show(result);
    const outcome = result.isError ? "That failed:" : "It was applied:";
    await host.tellModel(
      `The user chose to apply the previewed change. ${outcome}\n${textOf(result)}`,
    );
  });
  return apply;
}

host.onResult = (result) =>
  show(result, ...(host.input.dryRun === true && !result.isError ? [applyButton()] : []));
void host.connect("refmcp-diff");
