import { nearest, ToolError } from "@refmcp/boundary/answer";
import { errorResult, resultFor } from "@refmcp/core/internal/bind/result";
import { unknownName } from "@refmcp/core/internal/bind/tool";
import type { Log } from "@refmcp/core/internal/log";
import { ProtocolError } from "@refmcp/core/internal/protocol/errors";
import { isObject, show } from "@refmcp/core/internal/protocol/messages";
import type { ClientRequest, Handler, Service } from "@refmcp/core/internal/protocol/request";
import type { Tasks } from "@refmcp/core/internal/protocol/tasks";
import type { Params } from "@refmcp/core/internal/protocol/wire";
import { CALL_TOOL } from "./definition.ts";
import type { Router } from "./router.ts";

/** Handles `tools/call`: this program's own tools here, all others in the process of their server. */
export function toolCalls(parts: {
  readonly own: Service;
  /** Whether there is `call_tool`. */
  readonly findsTools: boolean;
  readonly router: Router;
  readonly tasks: Tasks;
  readonly log: Log;
}): Handler {
  const { own, findsTools, router, tasks, log } = parts;
  const ownCall = own.methods.get("tools/call");

  /** The result of a call; what keeps it from running is a result too, for the model to read. */
  async function send(request: ClientRequest, name: string, params: Params): Promise<object> {
    try {
      const peer = router.known(name) ?? (await router.addedBy(name, request));
      if (peer === undefined) throw unknown(request, name);
      return await peer.send(request, "tools/call", params);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      return resultFor(request.revision, errorResult(name, error, log));
    }
  }

  function unknown(request: ClientRequest, name: string): Error {
    if (request.params.name === name) return unknownName("tool", name, router.toolNames);
    const near = nearest(name, router.toolNames);
    return new ToolError("not_found", `There is no tool ${show(name)}.`, {
      hint:
        near.length === 0
          ? "find_tools finds tools by words. If it is off by default, the user can start refmcp with more tools: --git.toolsets=all, for example."
          : `Did you mean ${near.join(" or ")}?`,
    });
  }

  return (request) => {
    const asked = String(request.params.name);
    if (own.tool(asked) !== undefined && ownCall !== undefined) return ownCall(request);
    const params = findsTools && asked === CALL_TOOL.name ? inner(request.params) : request.params;
    const name = String(params.name);
    const call = () => send(request, name, params);
    if (request.isTask) return call();
    const known = router.known(name)?.facts(name);
    if (tasks.isFor(request))
      return tasks.run(request, own.scopeFor(known?.effect ?? "read"), call);
    return call();
  };
}

/** The call inside a call of `call_tool`. Some models write the arguments as JSON text. */
function inner(params: Params): Params {
  const { name, arguments: given }: Params = isObject(params.arguments) ? params.arguments : {};
  return { ...params, name: typeof name === "string" ? name : "", arguments: objectOf(given) };
}

/** Arguments that are not an object are left to the tool's server, which refuses them with the reason. */
function objectOf(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}
