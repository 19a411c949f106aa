import type { Action } from "../language/ast.ts";
import { throttlingOf } from "../language/plan.ts";
import { type StateStore, tokensOf } from "../store/states.ts";
import type { Deadline } from "./deadline.ts";
import type { PageRecord } from "./record.ts";
import type { Secrets } from "./secrets.ts";

/** The dependencies of steps for tabs, saved states and throttling. */
export interface EnvironmentScope {
  readonly record: PageRecord;
  readonly deadline: Deadline;
  readonly states: StateStore;
  readonly secrets: Pick<Secrets, "hide">;
}

export type EnvironmentAction = Extract<
  Action,
  {
    kind:
      | "switch tab"
      | "close tab"
      | "throttle cpu"
      | "throttle network"
      | "save state"
      | "use state"
      | "time zone"
      | "locale";
  }
>;

const LOOK_MS = 50;

/**
 * Performs a step that changes the page's environment.
 *
 * @returns why it failed, or undefined on success.
 * @throws ToolError for an unknown state, or one that is too large.
 */
export async function changeEnvironment(
  action: EnvironmentAction,
  { record, deadline, states, secrets }: EnvironmentScope,
  timeout: number,
): Promise<string | undefined> {
  const { tabs } = record;
  const context = tabs.current.context();
  switch (action.kind) {
    case "switch tab": {
      const ends = performance.now() + timeout;
      let tab = tabs.find(action.to);
      while (tab === undefined && performance.now() < ends) {
        await deadline.sleep(LOOK_MS);
        tab = tabs.find(action.to);
      }
      if (tab === undefined)
        return action.to === "new"
          ? "no new tab opened"
          : `there is no open tab ${action.to} of ${tabs.all.length}`;
      await tabs.switchTo(tab);
      await tab
        .waitForLoadState("load", { timeout: Math.max(1, ends - performance.now()) })
        .catch(() => undefined);
      return undefined;
    }
    case "close tab":
      if (tabs.all.filter((tab) => !tab.isClosed()).length === 1) return "it is the only tab";
      await tabs.current.close();
      return undefined;
    case "throttle cpu":
    case "throttle network": {
      const { command, params } = throttlingOf(action);
      if (context.browser()?.browserType().name() !== "chromium") return "only Chromium can be throttled";
      const session = await context.newCDPSession(tabs.current);
      // The protocol's types tie each command to its parameters; here both come from one place.
      await Reflect.apply(session.send, session, [command, params]);
      return undefined;
    }
    case "save state": {
      const state = await context.storageState({ indexedDB: true });
      secrets.hide(action.name, tokensOf(state));
      await states.write(action.name, state);
      return undefined;
    }
    case "use state": {
      const state = await states.read(action.name);
      secrets.hide(action.name, tokensOf(state));
      await context.setStorageState(state);
      return undefined;
    }
    case "time zone":
    case "locale":
      // Context options, set when the context was created.
      return undefined;
  }
}
