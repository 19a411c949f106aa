import type { ArgsOf } from "./pattern.ts";
import type { Act, Expectation } from "./plan.ts";

/** A form of a sentence. Its types, the parser, the printer, the reference and the README's tables follow from it. */
export interface Row<Form extends string = string> {
  /** Its part of the reference. */
  readonly topic: string;
  /** Its words and slots. */
  readonly form: Form;
  readonly examples: readonly [string, ...string[]];
}

/** A form of a step. */
export interface StepRow<Form extends string = string> extends Row<Form> {
  /** A setup step: at the beginning of a script it runs before the page is opened. */
  readonly isSetup?: boolean;
  /** Its calls of Playwright's API; `session/steps.ts` performs the steps that have none. */
  acts?(args: ArgsOf<Form>): readonly Act[];
  /** Its lines in a spec, if they are not these calls. */
  spec?(args: ArgsOf<Form>, spec: Spec): string[];
}

/** An assertion that Playwright's `expect` checks on the page or an element. */
export interface ElementRow<Form extends string = string> extends Row<Form> {
  expect(args: ArgsOf<Form>): Plan;
}
/** An expectation that is not negated yet. */
export type Plan = Omit<Expectation, "not"> & { readonly not?: boolean };

/** An assertion about what a run recorded; `check/` decides it. */
export interface RecordRow<Form extends string = string> extends Row<Form> {
  /** It is checked once, after the page has settled: absence is trivially true at first. */
  readonly isLate?: boolean;
  /** Its lines in a spec. */
  spec(args: ArgsOf<Form>, spec: Spec): string[];
}

/** A spec that is being written: what it needs, and the variable of the current tab. */
export interface Spec {
  /** The origin of the first page, its `baseURL`. */
  readonly base: string;
  /** The last page that a step opened by its address. */
  url: string;
  readonly needs: Set<Needs>;
  page: string;
}

/** What a check needs collected from the start, or imported. */
export type Needs =
  | "axe"
  | "consoleErrors"
  | "consoleWarnings"
  | "consoleLines"
  | "pageErrors"
  | "failedRequests"
  | "requests"
  | "exchanges"
  | "downloads"
  | "dialogs"
  | "settled"
  | "status";

type Examples = Row["examples"];
type More<One extends Row> = Omit<One, "topic" | "form" | "examples">;

export const step = <Form extends string>(
  topic: string,
  form: Form,
  examples: Examples,
  row: More<StepRow<Form>>,
): StepRow<Form> => ({ topic, form, examples, ...row });

export const check = <Form extends string>(
  topic: string,
  form: Form,
  examples: Examples,
  row: More<ElementRow<Form>>,
): ElementRow<Form> => ({ topic, form, examples, ...row });

export const recorded = <Form extends string>(
  topic: string,
  form: Form,
  examples: Examples,
  row: More<RecordRow<Form>>,
): RecordRow<Form> => ({ topic, form, examples, ...row });
