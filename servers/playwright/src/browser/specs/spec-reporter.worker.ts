import { closeSync, writeSync } from "node:fs";

/** The part of Playwright's reporter API (docs: "Reporter") that we use; every version since 1.30 has it. */
interface Case {
  readonly id: string;
  readonly title: string;
  readonly location: { readonly file: string; readonly line: number };
  readonly parent: { project(): { readonly name: string } | undefined };
  titlePath(): string[];
  outcome(): "skipped" | "expected" | "unexpected" | "flaky";
  readonly retries: number;
}
interface Result {
  readonly status: string;
  readonly duration: number;
  readonly retry: number;
  readonly errors: readonly { readonly message?: string; readonly stack?: string }[];
  readonly attachments: readonly {
    readonly name: string;
    readonly path?: string;
    readonly contentType: string;
  }[];
}
interface Failure {
  readonly message?: string;
}

/**
 * Loaded by the user's own Playwright: reports events as JSON lines on a separate file descriptor, so that spec
 * output cannot be mistaken for them.
 */
export default class SpecReporter {
  readonly #fd = Number(process.env.REFMCP_REPORT_FD ?? "3");
  #open = true;

  printsToStdio(): boolean {
    return false;
  }

  onBegin(_config: unknown, suite: { allTests(): Case[] }): void {
    const tests = suite.allTests().map(placeOf);
    // In chunks: a pipe accepts a line of any length, but its reader should not have to buffer all of it.
    for (let i = 0; i < tests.length; i += 100)
      this.#tell({ kind: "tests", tests: tests.slice(i, i + 100) });
    this.#tell({ kind: "begin", total: tests.length });
  }

  onTestEnd(test: Case, result: Result): void {
    this.#tell({
      kind: "test",
      ...placeOf(test),
      status: result.status,
      outcome: test.outcome(),
      last:
        result.retry >= test.retries || result.status === "passed" || result.status === "skipped",
      duration: result.duration,
      errors: result.errors
        .slice(0, 3)
        .map((error) => String(error.stack ?? error.message ?? "").slice(0, 4_000)),
      attachments: result.attachments
        .filter((attachment) => attachment.path !== undefined)
        .slice(0, 20)
        .map(({ name, path, contentType }) => ({ name, path, contentType })),
    });
  }

  onError(error: Failure): void {
    this.#tell({ kind: "error", message: String(error.message ?? "").slice(0, 4_000) });
  }

  onEnd(result: { readonly status: string }): void {
    this.#tell({ kind: "end", status: result.status });
    if (this.#open) closeSync(this.#fd);
    this.#open = false;
  }

  #tell(event: object): void {
    let bytes: Uint8Array = Buffer.from(`${JSON.stringify(event)}\n`);
    while (this.#open && bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
      } catch (error) {
        // Retries a full pipe; gives up if the server has ended.
        if (!(error instanceof Error && "code" in error && error.code === "EAGAIN"))
          this.#open = false;
      }
    }
  }
}

const placeOf = (test: Case) => ({
  id: test.id,
  // Without the project's name and the file, which are separate fields.
  title: test.titlePath().slice(3).join(" › "),
  file: test.location.file,
  line: test.location.line,
  project: test.parent.project()?.name ?? "",
});
