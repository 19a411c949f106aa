import type { OptionTable, Service } from "@refmcp/core";
import {
  type AnyServable,
  type ClientRequest,
  type Handler,
  type ResourceOutline,
  type Runtime,
  resourceNotFound,
  resourceOutline,
  type Served,
  serviceOf,
  type Tasks,
} from "@refmcp/core/run";

/** One of the servers of this process, or the program's own tools, as the others see it. */
export interface Part {
  readonly definition: AnyServable;
  readonly service: Service;
  readonly tools: Served["tools"];
  readonly prompts: readonly { readonly name: string }[];
  readonly resources: readonly ResourceOutline[];
  /** Whether its tools are listed; otherwise only find_tools finds them. */
  readonly isListed: boolean;
  /** The beginning of the URLs of its code. */
  readonly folder: string;
  isOpen(): boolean;
  /** Closes what it has open; the next call opens it again. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** @param tasks those of all parts. Default: new ones */
export function partOf<Context>(
  runtime: Runtime<Context, OptionTable>,
  facts: Pick<Part, "isListed" | "folder">,
  tasks?: Tasks,
): Part {
  const { definition, tools, prompts, resources } = runtime;
  return {
    ...facts,
    definition,
    service: serviceOf(runtime, tasks),
    tools,
    prompts,
    resources: resources.map(resourceOutline),
    isOpen: () => runtime.opened !== undefined,
    reset: () => runtime.reset(),
    close: () => runtime.close(),
  };
}

export const nameOf = ({ definition }: Part): string => definition.name;

/** Handles a request by one of the servers. @throws ProtocolError -32602 if it has nothing of that kind. */
export function send({ service }: Part, request: ClientRequest): ReturnType<Handler> {
  const handler = service.methods.get(request.method);
  if (handler === undefined) throw resourceNotFound(String(request.params.uri));
  return handler(request);
}
