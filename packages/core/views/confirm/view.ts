// The confirmation card: shows exactly what would be lost, and calls the server's card tool with the user's answer. If the call
// needed no confirmation, it stays empty.
import { button } from "../controls.ts";
import { element, Host, textOf } from "../host.ts";

interface Confirmation {
  readonly token: string;
  readonly message: string;
  /** What the user agrees to: a verb and the loss. */
  readonly action: string;
  readonly tool: string;
}

const host = new Host();

function show({ token, message, action, tool }: Confirmation): void {
  const cancel = button("Cancel");
  const go = button(action, "go");
  const buttons = element("div", { class: "bar" }, cancel, go);
  const outcome = element("p", { class: "text", role: "status" });
  const card = element(
    "main",
    { class: "card", "aria-labelledby": "title", "aria-describedby": "loss" },
    element("h1", { id: "title" }, `${action}?`),
    element("p", { class: "loss text", id: "loss", tabindex: "0" }, message),
    buttons,
    outcome,
  );
  const answer = async (event: Event, accept: boolean) => {
    // Only a person's click counts, and only one.
    if (!event.isTrusted || cancel.disabled) return;
    cancel.disabled = true;
    go.disabled = true;
    outcome.textContent = accept ? "Working …" : "";
    const said = textOf(await host.callTool(tool, { token, accept }));
    buttons.remove();
    outcome.textContent = said;
    await host.tellModel(
      `${accept ? "The user confirmed" : "The user declined"}: ${message}\n${said}`,
    );
  };
  cancel.addEventListener("click", (event) => void answer(event, false));
  go.addEventListener("click", (event) => void answer(event, true));
  document.body.replaceChildren(card);
}

host.onResult = ({ _meta }) => {
  const confirmation = _meta?.["io.github.refmcp/confirmation"] as Confirmation | undefined;
  if (confirmation !== undefined) show(confirmation);
};
void host.connect("refmcp-confirm");
