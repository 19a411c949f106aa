import { oneLine } from "@refmcp/boundary/answer";

/** What the line needs of a terminal. */
export interface ProgressTerminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A short call shows nothing. */
const DELAY_MS = 500;

/** Shows the progress of a long call in one line of a terminal, which is removed at the end. A pipe gets nothing. */
export class ProgressLine {
  readonly #terminal: ProgressTerminal;
  readonly #delayMs: number;
  #text = "";
  #timer: NodeJS.Timeout | undefined;
  #isShown = false;

  constructor(terminal: ProgressTerminal, delayMs = DELAY_MS) {
    this.#terminal = terminal;
    this.#delayMs = delayMs;
  }

  /** Takes a progress notification (MCP, "Progress"). */
  show(params: {
    readonly progress?: unknown;
    readonly total?: unknown;
    readonly message?: unknown;
  }): void {
    const { progress, total, message } = params;
    if (this.#terminal.isTTY !== true || typeof progress !== "number") return;
    const note = typeof message === "string" ? oneLine(message) : "";
    this.#text =
      `${typeof total === "number" ? `${count(progress)} of ${count(total)}` : count(progress)} ${note}`.trimEnd();
    if (this.#isShown) this.#draw();
    else this.#timer ??= setTimeout(() => this.#draw(), this.#delayMs).unref();
  }

  /** Removes the line, for an answer or a question to follow. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isShown) this.#terminal.write("\r\u001b[K");
    this.#isShown = false;
  }

  #draw(): void {
    const width = (this.#terminal.columns || 80) - 1;
    const shown = this.#text.length > width ? `${this.#text.slice(0, width - 1)}…` : this.#text;
    // Back to the start of the line, and clear what was there.
    this.#terminal.write(`\r\u001b[K${shown}`);
    this.#isShown = true;
  }
}

const count = (value: number) => String(Math.round(value * 10) / 10);
