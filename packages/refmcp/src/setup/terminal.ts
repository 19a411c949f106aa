import { createInterface } from "node:readline";
import { SetupProblem } from "./file.ts";

/** Where `setup` writes and asks. */
export interface TerminalIo {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: { write(text: string): unknown };
}

/** Shows what happens, asks the user line by line, and counts problems. */
export class Terminal {
  readonly #io: TerminalIo;
  readonly #isSure: boolean;
  #lines: AsyncIterator<string> | undefined;
  exitCode = 0;

  /** @param isSure whether the user agrees to everything */
  constructor(io: TerminalIo, isSure: boolean) {
    this.#io = io;
    this.#isSure = isSure;
  }

  get canAsk(): boolean {
    return this.#io.input.isTTY === true && !this.#isSure;
  }

  write(line: string): void {
    this.#io.output.write(`${line}\n`);
  }

  async ask(question: string): Promise<string> {
    this.#io.output.write(`${question} `);
    this.#lines ??= createInterface({ input: this.#io.input })[Symbol.asyncIterator]();
    const { done, value } = await this.#lines.next();
    return done === true ? "" : value.trim();
  }

  /** Reads no more, so that the process can end. */
  close(): void {
    this.#io.input.pause();
  }

  async agrees(question: string): Promise<boolean> {
    return /^y(?:es)?$/i.test(await this.ask(`${question} [y/N]`));
  }

  /** Asks before writing; a dry run never writes. */
  async mayWrite(question: string, isDry: boolean): Promise<boolean> {
    if (!isDry && (this.#isSure || (this.canAsk && (await this.agrees(question))))) return true;
    const hint = isDry || this.canAsk ? "" : " Add --yes to write without a question.";
    this.write(`Nothing was written.${hint}`);
    if (!isDry && !this.canAsk) this.exitCode = 2;
    return false;
  }

  /** Does something with a file, or with all of them (no subject). A problem is shown. */
  async attempt<Result>(
    subject: string,
    step: () => Result,
    exitCode = 1,
  ): Promise<Awaited<Result> | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof SetupProblem)) throw error;
      this.write(subject === "" ? error.message : `✗ ${subject} ${error.message}`);
      this.exitCode = exitCode;
      return undefined;
    }
  }
}
