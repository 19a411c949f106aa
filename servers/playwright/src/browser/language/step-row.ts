import type { Wording } from "./checks.ts";
import type { ArgsOf } from "./pattern.ts";
import type { Act } from "./plan.ts";
import type { Spec } from "./records.ts";

/** A form of a step. */
export interface StepRow<Form extends string = string> {
  /** Its canonical wording. */
  readonly form: Form;
  /** Other wordings, with the values that they imply. */
  readonly also: readonly Wording[];
  /** Those that give way to any other reading. */
  readonly loose?: readonly Wording[];
  readonly example: string;
  /** Its part of the reference, and other examples there. */
  readonly topic: string;
  readonly examples?: readonly string[];
  /** A setup step: at the beginning of a script it runs before the page is opened. */
  readonly isSetup?: boolean;
  /** Its calls of Playwright's API; `session/steps.ts` performs the steps that have none. */
  acts?(args: ArgsOf<Form>): readonly Act[];
  /** Its lines in a spec, if they are not these calls. */
  spec?(args: ArgsOf<Form>, spec: Spec): string[];
}

export const step = <Form extends string>(
  form: Form,
  row: Omit<StepRow<Form>, "form" | "also"> & Partial<Pick<StepRow<Form>, "also">>,
): StepRow<Form> => ({ form, also: [], ...row });
