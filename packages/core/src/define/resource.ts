import type { Call } from "./call.ts";
import type { Annotations } from "./content.ts";
import type { Awaitable } from "./tool.ts";

/** One part of a resource's content; `uri` and `mimeType` default to those of the resource. */
export type ResourcePart =
  | { readonly uri?: string; readonly mimeType?: string; readonly text: string }
  | { readonly uri?: string; readonly mimeType?: string; readonly blob: Uint8Array };

/** What `read` returns: text, bytes, or parts. */
export type ResourceBody = string | Uint8Array | ResourcePart | readonly ResourcePart[];

export type Unwatch = () => Awaitable<void>;

interface ResourceFacts {
  /** Short and unique among the server's resources. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType?: string;
}

export interface FixedResource<Context> extends ResourceFacts {
  readonly uri: string;
  read(context: Context, call: Call): Awaitable<ResourceBody>;
  /** Starts watching for the first subscriber, within `call`; `onChange` notifies all subscribers. */
  watch?(context: Context, onChange: () => void, call: Call): Awaitable<Unwatch>;
}

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string | undefined;
  /** Bytes. */
  readonly size?: number;
  readonly annotations?: Annotations | undefined;
}

interface ResourcePage {
  readonly resources: readonly ListedResource[];
  /** The next page's cursor; omitted on the last page. */
  readonly nextCursor?: string;
}

type Names<Expression extends string> = Expression extends `${infer First},${infer Rest}`
  ? Names<First> | Names<Rest>
  : Expression extends `${"+" | "#" | "/" | "." | ";" | "?" | "&"}${infer Name}`
    ? Names<Name>
    : Expression extends `${infer Name}*`
      ? Name
      : Expression;

/** The variables of a URI template (RFC 6570): `"git://{repo}/blob/{+path}"` → `"repo" | "path"`. */
export type VariablesOf<Template extends string> =
  Template extends `${string}{${infer Expression}}${infer Rest}`
    ? Names<Expression> | VariablesOf<Rest>
    : never;

/** A family of resources with a URI template. Values are percent-decoded. */
export interface TemplateResource<Context, Template extends string = string> extends ResourceFacts {
  readonly uriTemplate: Template;
  /** @param uri the whole URI, not percent-decoded */
  read(
    variables: Record<VariablesOf<Template>, string>,
    context: Context,
    call: Call,
    uri: string,
  ): Awaitable<ResourceBody>;
  /** Lists the resources that are worth listing, in bounded pages. */
  list?(context: Context, cursor: string | undefined, call: Call): Awaitable<ResourcePage>;
  /** Suggests values for a variable; at most 100 are sent. `others` holds the variables already filled in. */
  readonly complete?: {
    readonly [Variable in VariablesOf<Template>]?: Completer<Context>;
  };
  watch?(
    variables: Record<VariablesOf<Template>, string>,
    context: Context,
    onChange: () => void,
    call: Call,
  ): Awaitable<Unwatch>;
}

/** Suggests values that begin with `value`. */
export type Completer<Context> = (
  value: string,
  context: Context,
  otherValues: Readonly<Record<string, string>>,
  call: Call,
) => Awaitable<readonly string[]>;

export type Resource<Context> = FixedResource<Context> | TemplateResource<Context>;

/** A resource's listed fields, and which handlers it has. */
export interface ResourceOutline extends ResourceFacts {
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly watches: boolean;
  readonly lists: boolean;
  /** The variables with suggestions. */
  readonly completes: readonly string[];
}

/** The `resource` function of a server: `uri` defines a fixed resource, `uriTemplate` a family. */
export function resourceFor<Context>() {
  function resource(definition: FixedResource<Context>): FixedResource<Context>;
  function resource<const Template extends string>(
    definition: TemplateResource<Context, Template>,
  ): TemplateResource<Context, Template>;
  function resource<Definition>(definition: Definition): Definition {
    return definition;
  }
  return resource;
}
