import { commonOptions, directoryOptions } from "../define/common-options.ts";
import type { OptionTable } from "../define/options.ts";

/** What of a server's definition decides its options. */
export interface OptionsOwner<Table extends OptionTable> {
  /** The short key that hosts use: `filesystem`. */
  readonly name: string;
  /** The server's own options. */
  readonly options: Table;
  /** Present where the server touches directories. */
  readonly directories?: object;
  readonly toolsets?: Readonly<Record<string, { readonly description: string; readonly default: boolean }>>;
}

/** All options of a server, the common ones included, in the order of the help. */
export interface ServerOptions<Table extends OptionTable> {
  readonly server: string;
  readonly table: OptionTable;
  /** Only carries the type of the server's own options. */
  readonly own: Table;
}

/**
 * Joins a server's own options with the common ones that apply to it.
 *
 * @throws {TypeError} where the server has an option that is a common one too.
 */
export function serverOptions<Table extends OptionTable>(owner: OptionsOwner<Table>): ServerOptions<Table> {
  const { readOnly, confirm, tools, excludeTools, ...rest } = commonOptions;
  const parts: OptionTable[] = [
    owner.directories === undefined ? {} : directoryOptions,
    owner.options,
    { readOnly, confirm, tools, excludeTools },
    toolsetOption(owner.toolsets ?? {}),
    rest,
  ];
  const table: Record<string, OptionTable[string]> = {};
  for (const part of parts) {
    for (const [key, option] of Object.entries(part)) {
      if (key in table)
        throw new TypeError(`Option table of ${owner.name}: ${key} is a common option already.`);
      table[key] = option;
    }
  }
  return { server: owner.name, table, own: owner.options };
}

function toolsetOption(toolsets: NonNullable<OptionsOwner<OptionTable>["toolsets"]>): OptionTable {
  const names = Object.keys(toolsets);
  if (names.length === 0) return {};
  return {
    toolsets: {
      type: "enum",
      list: true,
      values: names,
      default: names.filter((name) => toolsets[name]?.default === true),
      valueName: "LIST",
      heading: "Tools",
      description: `Offer the tools of these sets instead of the default ones: ${names.join(", ")}.`,
    },
  };
}
