/** The words of a form, for people who see no flags. */
export interface OptionForm {
  /** The label of the field. */
  readonly title: string;
  /** One or two sentences below it: what to enter, with an example, or what changes. */
  readonly help: string;
}

interface OptionFacts {
  /** One sentence on one line. */
  readonly description: string;
  /**
   * Further environment variables, read in this order after the automatic `REFMCP_<SERVER>_<FLAG>`. `false` if the
   * option only exists on the command line.
   */
  readonly env?: readonly string[] | false;
  /** The flag without its dashes, if it is not the key in kebab-case. */
  readonly flag?: string;
  /** Placeholder for the value in help: `DIR`. Default: by type. */
  readonly valueName?: string;
  /** Whether arguments without a flag are also values of this option. At most one option of a table is positional. */
  readonly positional?: boolean;
  /** The heading in the help under which it is listed. */
  readonly heading?: string;
  /** Its field in a host's form (manifest.json, or a question of VS Code), which asks for options that have one. */
  readonly form?: OptionForm;
  /** Whether it works but is not shown. */
  readonly hidden?: boolean;
  /**
   * Whether host entries, server.json and manifest.json ask the user for it, because the server is of little use
   * without it.
   */
  readonly ask?: boolean;
  /** Keys of options that make this one unnecessary: if one of them is set, a printed entry does not ask for it. */
  readonly askUnless?: readonly string[];
}

/**
 * How many values an option takes: one, several (`list`), or several pairs (`named`: `--db sales=postgres://…`). Names
 * are `unique` or may be `repeated`, for example for a host with two headers.
 */
type Values<Value> =
  | { readonly list?: never; readonly named?: never; readonly default?: Value }
  | { readonly list: true; readonly named?: never; readonly default?: readonly Value[] }
  | { readonly list?: never; readonly named: "unique" | "repeated"; readonly default?: never };

/**
 * `check` returns undefined for a valid text, otherwise a clause that follows "it": `takes text without line breaks`.
 */
interface Text {
  readonly check?: (value: string) => string | undefined;
}

/**
 * An option. Its type is one of:
 * - directory, file: a path that need not exist; `~` and `file:` URIs are supported, relative paths are made absolute
 * - flag: `--flag` and `--no-flag`; off unless `default` is true
 * - url: http or https
 * - string: a list is split at commas unless `commas` is false, for globs and similar
 * - secret: a text that is never shown in help, errors, logs or printed entries
 */
export type Option = OptionFacts &
  (
    | ({ readonly type: "directory" | "file" } & Values<string>)
    | ({ readonly type: "url" } & Values<string>)
    | {
        readonly type: "flag";
        readonly list?: never;
        readonly named?: never;
        readonly default?: boolean;
      }
    | ({ readonly type: "integer"; readonly min?: number; readonly max?: number } & Values<number>)
    | ({ readonly type: "enum"; readonly values: readonly string[] } & Values<string>)
    | ({ readonly type: "string"; readonly commas?: boolean } & Text & Values<string>)
    | ({ readonly type: "secret" } & Text & Values<never>)
  );

/** The options of a server by camelCase key: the single source for argv, environment, help, README and manifests. */
export type OptionTable = Readonly<Record<string, Option>>;

/** A value of a `name=value` option. */
export interface NamedValue<Value> {
  readonly name: string;
  readonly value: Value;
}

type ScalarValue<O extends Option> = O extends { readonly type: "flag" }
  ? boolean
  : O extends { readonly type: "integer" }
    ? number
    : O extends { readonly type: "url" }
      ? URL
      : O extends { readonly type: "enum"; readonly values: readonly (infer Value)[] }
        ? Value
        : string;

export type OptionValue<O extends Option> = O extends { readonly named: string }
  ? readonly NamedValue<ScalarValue<O>>[]
  : O extends { readonly list: true }
    ? readonly ScalarValue<O>[]
    : O extends { readonly type: "flag" } | { readonly default: unknown }
      ? ScalarValue<O>
      : ScalarValue<O> | undefined;

/**
 * The parsed options of a table. Every key is present: a flag is a boolean, an omitted list is empty, and any other
 * omitted option without a default is `undefined`.
 */
export type OptionValues<Table extends OptionTable> = {
  readonly [Key in keyof Table]: OptionValue<Table[Key]>;
};

/**
 * Returns its argument and infers the literals, so that `OptionValues<typeof table>` is exact.
 *
 * ```ts
 * export const options = defineOptions({
 *   maxReadChars: { type: "integer", description: "Maximum characters of one read.", min: 1, default: 80_000 },
 * });
 * ```
 */
export function defineOptions<const Table extends OptionTable>(table: Table): Table {
  return table;
}
