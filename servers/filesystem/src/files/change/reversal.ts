import { dirname } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { named } from "../errors.ts";
import { missingDirectories } from "../open-path.ts";
import type { RecordedStep } from "../store/record.ts";
import { directoryStep, type Step } from "./step.ts";

export const isMadeDirectory = (step: RecordedStep) =>
  step.kind === "put" && step.after.type === "empty directory" && step.image === undefined;

/** The steps that undo one step, and what to say about it. */
export interface Reversal {
  readonly step: RecordedStep;
  readonly steps: readonly Step[];
  readonly done: string;
}

/** The paths that a step changed: where its result is, and where it was before. */
export const pathsOfStep = (step: RecordedStep) =>
  [step.kind === "rename" ? step.to : step.path, step.path] as const;

/**
 * Whether a later step of the same change, which is undone before, changed the path of a step, so that its state is known;
 * `origin`: the same for the path that a move left.
 */
export function settle(settled: Set<string>, step: RecordedStep) {
  const [result] = pathsOfStep(step);
  const isCovered = { result: settled.has(result), origin: settled.has(step.path) };
  settled.add(result).add(step.path);
  return isCovered;
}

export async function reversalOf(
  guard: PathGuard,
  change: string,
  step: RecordedStep,
  isCovered: ReturnType<typeof settle>,
): Promise<Reversal> {
  const { path } = step;
  const at = step.kind === "rename" ? step.to : path;
  const requires =
    isCovered.result || !("after" in step) ? undefined : { path: at, state: step.after, change };
  const content = `${named(path)} was restored to its previous content.`;
  if (step.kind === "append") {
    const { from, size_after: size = from } = step;
    return { step, steps: [{ kind: "cut", path, from, size }], done: content };
  }
  if (step.kind === "cut") {
    const bytes = { image: step.image };
    return { step, steps: [{ kind: "append", path, bytes }], done: content };
  }
  if (step.kind === "put" && step.image === undefined) {
    const isOptional = step.after.type === "empty directory";
    const remove: Step = { kind: "put", path, content: { kind: "nothing", isOptional } };
    const steps = [isOptional ? remove : { ...remove, requires }];
    return { step, steps, done: `${named(path)} was removed.` };
  }
  const parents = (await missingDirectories(guard)(dirname(path))).map(directoryStep);
  if (step.kind === "rename") {
    const back: Step = { kind: "rename", path: at, to: path, requires };
    return { step, steps: [...parents, back], done: `${named(path)} was moved back.` };
  }
  const image = step.image ?? "";
  const back: Step = { kind: "put", path, content: { kind: "image", image }, requires };
  const done = step.after.type === "nothing" ? `${named(path)} was restored.` : content;
  return { step, steps: [...parents, back], done };
}
