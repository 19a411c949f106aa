import { type ListedTool, listedTools } from "@refmcp/core/run";
import MiniSearch from "minisearch";
import type { Part } from "./part.ts";

/** A tool that can be found, and the server that it belongs to. */
export interface FoundTool {
  readonly server: string;
  readonly tool: ListedTool;
}

/** What `find_tools` searches. */
type ToolSource = Pick<Part, "definition" | "tools">;

/** How much a word counts, by where it is. */
const BOOST = { name: 4, title: 3, server: 2, description: 1, arguments: 0.5 };

/** Finds tools by words. The index is built at the first search. */
export class ToolIndex {
  readonly #sources: readonly ToolSource[];
  #built:
    | Promise<{ readonly search: MiniSearch; readonly tools: readonly FoundTool[] }>
    | undefined;

  constructor(sources: readonly ToolSource[]) {
    this.#sources = sources;
  }

  /** The servers' names and instructions. */
  get servers(): readonly { readonly name: string; readonly instructions: string }[] {
    return this.#sources.map(({ definition }) => definition);
  }

  /** All tools of a server, or of all servers. */
  async all(server?: string): Promise<readonly FoundTool[]> {
    const { tools } = await this.#index();
    return server === undefined ? tools : tools.filter((one) => one.server === server);
  }

  /** The tools that match the words, the best first: other forms of a word and misspelled ones also match. */
  async find(words: string, server?: string): Promise<readonly FoundTool[]> {
    const { search, tools } = await this.#index();
    return search
      .search(words, {
        boost: BOOST,
        prefix: (term) => term.length > 2,
        fuzzy: (term) => (term.length > 4 ? 0.2 : false),
        filter: ({ id }) => server === undefined || tools[id]?.server === server,
      })
      .flatMap(({ id }) => tools[id] ?? []);
  }

  #index() {
    this.#built ??= this.#build();
    return this.#built;
  }

  async #build() {
    const lists = await Promise.all(
      this.#sources.map(async ({ definition, tools }) =>
        (await listedTools(tools)).map((tool) => ({ server: definition.name, tool })),
      ),
    );
    const tools: readonly FoundTool[] = lists.flat();
    const search = new MiniSearch({ fields: Object.keys(BOOST), processTerm: stem });
    search.addAll(
      tools.map(({ server, tool }, id) => ({
        id,
        server,
        name: tool.name.replaceAll("_", " "),
        title: tool.title,
        description: tool.description,
        arguments: Object.keys(tool.inputSchema.properties ?? {})
          .join(" ")
          .replaceAll("_", " "),
      })),
    );
    return { search, tools };
  }
}

/** Words that say nothing about a tool. */
const STOP = new Set(
  "a an and any are as at be by can do for from how i in is it its me my of on or that the this to use want what which with".split(
    " ",
  ),
);

/** Lower case and without the endings of plurals and verbs: `queries` and `query` are the same word. */
function stem(term: string): string | null {
  const word = term.toLowerCase();
  if (STOP.has(word)) return null;
  return word.length < 4 ? word : word.replace(/ies$/, "y").replace(/(?<!s)s$/, "");
}
