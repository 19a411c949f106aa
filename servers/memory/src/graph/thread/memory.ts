import type { PathGuard } from "@refmcp/boundary";
import { Engine } from "./engine.ts";
import type { Place } from "./location.ts";
import { GraphWatch } from "./watch.ts";

/** An opened memory: the store of one space, a watch on it, and the files that may be imported and exported. */
export class Memory extends Engine {
  readonly space: string;
  readonly watch = new GraphWatch((seen) => this.run("changesAfter", [seen]));
  readonly paths: PathGuard;
  /** A file that may be imported without being in an allowed directory. */
  official: string | undefined;
  /** What its user should know about damage. */
  warning: string | undefined;
  #notice = "";

  private constructor(place: Place, paths: PathGuard) {
    super(place);
    this.space = place.space;
    this.paths = paths;
  }

  /** @throws ToolError if the place cannot be opened; see `openStore`. */
  static async at(place: Place, paths: PathGuard): Promise<Memory> {
    const memory = new Memory(place, paths);
    const { notice, warning, official } = await memory.open();
    memory.warning = warning;
    memory.#notice = [warning, notice].filter(Boolean).join(" ");
    memory.official = official;
    return memory;
  }

  /** A notice about the location, to show the user once. */
  takeNotice(): { notice?: string } {
    const notice = this.#notice;
    this.#notice = "";
    return notice === "" ? {} : { notice };
  }

  override async close(): Promise<void> {
    this.watch.close();
    await super.close();
  }
}
