/** What an option of any type says of itself. */
interface OptionFacts {
  /** One sentence on one line. */
  readonly description: string;
  /**
   * Further environment variables, asked in this order after the automatic `REFMCP_<SERVER>_<FLAG>`;
   * `false`: the option exists on the command line only.
   */
  readonly env?: readonly string[] | false;
  /** The flag without its dashes, where it is not the key in kebab-case. */
  readonly flag?: string;
  /** What stands for the value in help: `DIR`. Default: by type. */
  readonly valueName?: string;
  /** The section of the help that it stands in. */
  readonly heading?: string;
  /** The name of its field in a host's form (manifest.json), which asks for options that have one. */
  readonly title?: string;
  /** It works but is not shown. */
  readonly hidden?: boolean;
  /** Host entries, server.json and manifest.json ask the user for it: the server does little without. */
  readonly ask?: boolean;
  /** Keys of options that make this one unnecessary: where one of them is given, a printed entry does not ask for it. */
  readonly askUnless?: readonly string[];
}

/** An option with at most one value. */
interface Single<Value> {
  readonly list?: never;
  readonly named?: never;
  /** Arguments without a flag are its value too. At most one option of a table is positional. */
  readonly positional?: boolean;
  readonly default?: Value;
}

/** An option that may be given several times. */
interface List<Value> {
  readonly list: true;
  readonly named?: never;
  readonly positional?: boolean;
  readonly default?: readonly Value[];
}

/** A repeatable `name=value` option: `--db sales=postgres://…`. */
interface Named {
  /** `repeated`: one name may come several times, for example a host with two headers. */
  readonly named: "unique" | "repeated";
  readonly list?: never;
  readonly positional?: never;
  readonly default?: never;
}

type Arity<Value> = Single<Value> | List<Value> | Named;

/** A path; `~` and `file:` URIs are understood, relative ones are made absolute. It need not exist. */
export type PathOption = OptionFacts & { readonly type: "directory" | "file" } & Arity<string>;

export type UrlOption = OptionFacts & {
  readonly type: "url";
  /** Allowed schemes. Default: http and https. */
  readonly schemes?: readonly string[];
} & Arity<string>;

/** `--flag` and `--no-flag`; off unless `default` is true. */
export type FlagOption = OptionFacts & {
  readonly type: "flag";
  readonly list?: never;
  readonly named?: never;
  readonly positional?: never;
  readonly default?: boolean;
};

export type IntegerOption = OptionFacts & {
  readonly type: "integer";
  readonly min?: number;
  readonly max?: number;
} & Arity<number>;

export type EnumOption = OptionFacts & {
  readonly type: "enum";
  readonly values: readonly string[];
} & Arity<string>;

/** Looks at a text: what it should be, as a clause after "it" (`takes text without line breaks`), or undefined. */
type TextCheck = (value: string) => string | undefined;

export type StringOption = OptionFacts & {
  readonly type: "string";
  readonly check?: TextCheck;
  /** Whether a list's value is split at commas. Default true; false for globs and the like. */
  readonly commas?: boolean;
} & Arity<string>;

/** A text that appears in no help, error, log or printed entry. It has no default. */
export type SecretOption = OptionFacts & {
  readonly type: "secret";
  readonly check?: TextCheck;
} & (Omit<Single<string>, "default"> | Omit<List<string>, "default"> | Named) & { readonly default?: never };

export type Option =
  | PathOption
  | UrlOption
  | FlagOption
  | IntegerOption
  | EnumOption
  | StringOption
  | SecretOption;

/** The options of a server by camelCase key: the one source of argv, environment, help, README and manifests. */
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

/** The type of one option's parsed value. */
export type OptionValue<O extends Option> = O extends { readonly named: string }
  ? readonly NamedValue<ScalarValue<O>>[]
  : O extends { readonly list: true }
    ? readonly ScalarValue<O>[]
    : O extends { readonly type: "flag" } | { readonly default: unknown }
      ? ScalarValue<O>
      : ScalarValue<O> | undefined;

/**
 * The parsed options of a table. Every key is there: a flag is a boolean, a list that was not given is empty, and
 * an option without a default is `undefined` until it is given.
 */
export type OptionValues<Table extends OptionTable> = {
  readonly [Key in keyof Table]: OptionValue<Table[Key]>;
};

/** Demands of an enum's default that it is one of the enum's values. */
type WithFittingDefaults<Table extends OptionTable> = {
  readonly [Key in keyof Table]: Table[Key] extends {
    readonly type: "enum";
    readonly values: readonly (infer Value)[];
    readonly default: unknown;
  }
    ? { readonly default: Value | readonly Value[] }
    : unknown;
};

/**
 * Returns its argument and infers the literals, so that `OptionValues<typeof table>` is exact.
 *
 * ```ts
 * export const options = defineOptions({
 *   maxReadChars: { type: "integer", description: "Most characters of one read.", min: 1, default: 80_000 },
 * });
 * ```
 */
export function defineOptions<const Table extends OptionTable>(
  table: Table & WithFittingDefaults<Table>,
): Table {
  return table;
}
