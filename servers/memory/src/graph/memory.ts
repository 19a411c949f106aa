import type { PathGuard } from "@refmcp/core/boundary";
import { type Caller, Engine } from "./engine.ts";
import type { JobArguments, JobName, JobResult } from "./jobs.ts";
import type { Opened } from "./messages.ts";
import type { Place } from "./place.ts";
import { GraphWatch } from "./watch.ts";

/** An opened memory: the store of one space, a watch on it, and the files that may be imported and exported. */
export class Memory {
  readonly space: string;
  readonly watch: GraphWatch;
  readonly paths: PathGuard;
  /** A file that may be imported without being in an allowed directory. */
  readonly official: string | undefined;
  readonly #engine: Engine;
  #notice: string;

  private constructor(engine: Engine, space: string, paths: PathGuard, { notice, official }: Opened) {
    this.#engine = engine;
    this.space = space;
    this.watch = new GraphWatch((seen) => engine.run("changesAfter", [seen]));
    this.paths = paths;
    this.#notice = notice;
    this.official = official;
  }

  /** @throws ToolError if the place cannot be opened; see `openStore`. */
  static async open(place: Place, paths: PathGuard): Promise<Memory> {
    const engine = new Engine(place);
    return new Memory(engine, place.space, paths, await engine.open());
  }

  /** What the user should be told about the location, once. */
  takeNotice(): { notice?: string } {
    const notice = this.#notice;
    this.#notice = "";
    return notice === "" ? {} : { notice };
  }

  /** Runs a job in the database thread; see `jobs.ts`. */
  run<Name extends JobName>(name: Name, args: JobArguments<Name>, caller?: Caller): Promise<JobResult<Name>> {
    return this.#engine.run(name, args, caller);
  }

  async close(): Promise<void> {
    this.watch.close();
    await this.#engine.close();
  }
}
