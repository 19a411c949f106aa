import { oneLine } from "@refmcp/boundary/answer";

/** How many characters the bar itself has. */
const BAR_CHARS = 20;

/** What the line needs of a terminal. */
export interface ProgressTerminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Shows the progress of a call in one line of a terminal, which is removed at the end. A pipe gets nothing. */
export class ProgressLine {
  readonly #terminal: ProgressTerminal;
  #isShown = false;

  constructor(terminal: ProgressTerminal) {
    this.#terminal = terminal;
  }

  /** Shows a progress notification (MCP, "Progress"). */
  show(params: { readonly progress?: unknown; readonly total?: unknown; readonly message?: unknown }): void {
    const { progress, total, message } = params;
    if (this.#terminal.isTTY !== true || typeof progress !== "number") return;
    const note = typeof message === "string" ? oneLine(message) : "";
    const text = `${barOf(progress, total)} ${note}`.trimEnd();
    const width = Math.max(BAR_CHARS, (this.#terminal.columns || 80) - 1);
    const shown = text.length > width ? `${text.slice(0, width - 1)}…` : text;
    // Back to the start of the line, and clear what was there.
    this.#terminal.write(`\r\u001b[K${shown}`);
    this.#isShown = true;
  }

  /** Removes the line, for an answer or a question to follow. */
  clear(): void {
    if (this.#isShown) this.#terminal.write("\r\u001b[K");
    this.#isShown = false;
  }
}

/** `[██████░░░░░░░░░░░░░░] 3 of 10`, or without a known total `3`. */
function barOf(progress: number, total: unknown): string {
  if (typeof total !== "number" || !(total > 0)) return `[${"·".repeat(BAR_CHARS)}] ${count(progress)}`;
  const full = Math.round(Math.min(1, Math.max(0, progress / total)) * BAR_CHARS);
  const bar = "█".repeat(full) + "░".repeat(BAR_CHARS - full);
  return `[${bar}] ${count(progress)} of ${count(total)}`;
}

const count = (value: number) => String(Math.round(value * 10) / 10);
