import MiniSearch from "minisearch";
import type { Part } from "./service.ts";

type Server = Pick<Part, "name" | "runtime">;

/** A tool that can be found, and the server that it belongs to. */
interface ToolMatch {
  readonly server: string;
  readonly tool: Part["runtime"]["tools"][number];
}

/** How much a word counts, by where it is. */
const BOOST = { name: 4, title: 3, server: 2, description: 1, arguments: 0.5 };

/** Finds tools by words. The index is built at the first search. */
export class ToolIndex {
  readonly servers: readonly Server[];
  #index: MiniSearch | undefined;
  #tools: readonly ToolMatch[] = [];

  constructor(servers: readonly Server[]) {
    this.servers = servers;
  }

  /**
   * The tools that match the words, the best first: other forms of a word and misspelled ones also match.
   *
   * @param words default: all tools.
   */
  find(words: string | undefined, server: string | undefined): readonly ToolMatch[] {
    this.#index ??= this.#build();
    const matches = this.#index.search(words ?? MiniSearch.wildcard, {
      boost: BOOST,
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    });
    const tools = matches.flatMap(({ id }) => this.#tools[id] ?? []);
    return tools.filter((tool) => server === undefined || tool.server === server);
  }

  #build(): MiniSearch {
    this.#tools = this.servers.flatMap(({ name, runtime }) =>
      runtime.tools.map((tool) => ({ server: name, tool })),
    );
    const index = new MiniSearch({ fields: Object.keys(BOOST), processTerm: wordOf });
    const spaced = (name: string) => name.replaceAll("_", " ");
    index.addAll(
      this.#tools.map(({ server, tool: { name, title, description, schemas } }, id) => {
        const names = Object.keys(schemas.inputSchema.properties ?? {}).join(" ");
        return { id, server, name: spaced(name), title, description, arguments: spaced(names) };
      }),
    );
    return index;
  }
}

/** Words that say nothing about a tool. */
const STOP =
  /^(?:a|an|and|any|are|as|at|be|by|can|do|for|from|how|i|in|is|it|its|me|my|of|on|or|that|the|this|to|use|want|what|which|with)$/;

/** Lower case and without a plural's ending: `queries` and `query` are the same word. */
function wordOf(term: string): string | null {
  const word = term.toLowerCase();
  return STOP.test(word) ? null : word.replace(/(?<=..)ies$/, "y").replace(/(?<=...)(?<!s)s$/, "");
}
