/** The business insights of this session, as in the official server. */
export class Insights {
  readonly #all: string[] = [];
  readonly #listeners = new Set<() => void>();

  add(insight: string): number {
    this.#all.push(insight);
    for (const listener of this.#listeners) listener();
    return this.#all.length;
  }

  /** The memo, in the official server's words. */
  memo(): string {
    if (this.#all.length === 0) return "No business insights have been discovered yet.";
    const list = this.#all.map((insight) => `- ${insight}`).join("\n");
    const closing =
      this.#all.length > 1
        ? `\n\nSummary:\nAnalysis has revealed ${this.#all.length} key business insights that suggest opportunities for strategic optimization and growth.`
        : "";
    return `📊 Business Intelligence Memo 📊\n\nKey Insights Discovered:\n\n${list}${closing}`;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
