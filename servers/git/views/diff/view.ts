// A diff, a commit, or the history, whose commits open in place.
import { button, plain } from "../../../../packages/core/views/controls.ts";
import { diffPage } from "../../../../packages/core/views/diff.ts";
import "./view.css";
import { element, Host, type ToolResult, textOf } from "../../../../packages/core/views/host.ts";

interface Commit {
  readonly commit: string;
  /** Omitted in one-line lists. */
  readonly author?: string;
  readonly date?: string;
  readonly refs?: readonly string[];
  readonly message: string;
}

interface History {
  readonly commits: readonly Commit[];
  readonly next_cursor?: string;
}

const host = new Host();
let given: Record<string, unknown> = {};

function patch(tool: string, input: Record<string, unknown>, result: ToolResult): HTMLElement {
  try {
    return diffPage(host, result, (cursor) => host.callTool(tool, { ...input, cursor }));
  } catch {
    return plain(textOf(result), result.isError);
  }
}

/** The tool that was called, by its arguments and its first words. */
function toolOf(result: ToolResult): string {
  if ("target" in given) return "git_diff";
  if ("revision" in given) return "git_show";
  return textOf(result).startsWith("Staged changes:") ? "git_diff_staged" : "git_diff_unstaged";
}

function dayOf(date: string): string {
  const when = new Date(date);
  if (Number.isNaN(when.getTime())) return date;
  return when.toLocaleString(undefined, {
    dateStyle: "medium",
    ...(date.length > 10 ? { timeStyle: "short" } : {}),
  });
}

function commitOf({ commit, author, date, refs = [], message }: Commit): HTMLElement {
  const [subject = ""] = message.split("\n");
  const badges = refs.flatMap((ref) => [element("span", { class: "badge" }, ref), " "]);
  const facts = element(
    "small",
    {},
    element("code", {}, commit.slice(0, 10)),
    ` ${[author, date === undefined ? undefined : dayOf(date)].filter(Boolean).join(", ")}`,
  );
  const made = element(
    "details",
    { class: "commit" },
    element("summary", {}, element("b", {}, subject), " ", ...badges, facts),
  );
  const open = async () => {
    const place = element("div", { class: "patch", role: "status" }, "Loading …");
    made.append(place);
    const input = {
      ...("repo_path" in given ? { repo_path: given.repo_path } : {}),
      revision: commit,
    };
    const failed = (error: Error) => ({
      isError: true,
      content: [{ type: "text", text: error.message }],
    });
    const result = await host.callTool("git_show", input).catch(failed);
    place.removeAttribute("role");
    place.replaceChildren(patch("git_show", input, result));
  };
  made.addEventListener("toggle", () => void open(), { once: true });
  return made;
}

function history(first: History): HTMLElement {
  const list = element("div");
  const facts = element("p", { class: "facts", role: "status" });
  const more = button("Load more commits");
  let cursor: string | undefined;
  const add = ({ commits, next_cursor }: History) => {
    list.append(...commits.map(commitOf));
    cursor = next_cursor;
    more.hidden = cursor === undefined;
    const count = list.childElementCount;
    facts.textContent = `${count} ${count === 1 ? "commit" : "commits"}${cursor === undefined ? "" : "; there are more"}`;
  };
  more.addEventListener("click", async () => {
    if (more.disabled) return;
    more.disabled = true;
    const said = await host.callTool("git_log", { ...given, cursor }).then(
      (result) =>
        result.isError ? textOf(result) : (result.structuredContent as unknown as History),
      (error: Error) => error.message,
    );
    more.disabled = false;
    if (typeof said === "string") facts.textContent = said;
    else add(said);
  });
  add(first);
  return element("div", {}, element("div", { class: "bar" }, facts, more), list);
}

host.onInput = (input) => {
  given = input;
};
host.onResult = (result) => {
  const commits = result.structuredContent as unknown as History | undefined;
  const shown =
    commits?.commits === undefined ? patch(toolOf(result), given, result) : history(commits);
  document.body.replaceChildren(element("main", {}, shown));
};
void host.connect("refmcp-diff");
