// A diff, a commit, or the history, whose commits open in place.
import { plain, workButton } from "../../../../packages/core/views/controls.ts";
import { diffPage } from "../../../../packages/core/views/diff.ts";
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

function patch(tool: string, input: Host["input"], result: ToolResult): HTMLElement {
  try {
    return diffPage(host, result, (cursor) => host.callTool(tool, { ...input, cursor }));
  } catch {
    return plain(textOf(result), result.isError);
  }
}

/** The tool that was called, by its arguments and its first words. */
function toolOf(result: ToolResult): string {
  if ("target" in host.input) return "git_diff";
  if ("revision" in host.input) return "git_show";
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
  const details = element(
    "details",
    { class: "commit" },
    element("summary", {}, element("b", {}, subject), " ", ...badges, facts),
  );
  const open = async () => {
    const place = element("div", { class: "patch", role: "status" }, "Loading …");
    details.append(place);
    const input = {
      ...("repo_path" in host.input ? { repo_path: host.input.repo_path } : {}),
      revision: commit,
    };
    const result = await host.callTool("git_show", input);
    place.removeAttribute("role");
    place.replaceChildren(patch("git_show", input, result));
  };
  details.addEventListener("toggle", () => void open(), { once: true });
  return details;
}

function history(first: History): HTMLElement {
  const list = element("div");
  const facts = element("p", { class: "facts", role: "status" });
  const more = workButton("Load more commits", async () => {
    const result = await host.callTool("git_log", { ...host.input, cursor });
    if (result.isError) facts.textContent = textOf(result);
    else add(result.structuredContent as unknown as History);
  });
  let cursor: string | undefined;
  const add = ({ commits, next_cursor }: History) => {
    list.append(...commits.map(commitOf));
    cursor = next_cursor;
    more.hidden = cursor === undefined;
    const count = list.childElementCount;
    facts.textContent = `${count} ${count === 1 ? "commit" : "commits"}${cursor === undefined ? "" : "; there are more"}`;
  };
  add(first);
  return element("div", {}, element("div", { class: "bar" }, facts, more), list);
}

host.onResult = (result) => {
  const commits = result.structuredContent as unknown as History | undefined;
  const content =
    commits?.commits === undefined ? patch(toolOf(result), host.input, result) : history(commits);
  document.body.replaceChildren(element("main", {}, content));
};
void host.connect("refmcp-diff");
