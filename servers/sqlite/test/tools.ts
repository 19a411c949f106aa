import { fakeCall, type RecordedCall } from "@refmcp/testing";
import { afterEach } from "vitest";
import { type Lab, lab } from "./lab.ts";

/** A lab for one test of a tool, removed after it. The user agrees, declines or can't be asked. */
export function labs(): (
  agrees?: boolean,
  sql?: string,
  options?: { undo?: boolean },
) => Promise<Lab & { call: RecordedCall }> {
  const open: Lab[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.dispose();
  });
  return async (agrees, sql = "", options = {}) => {
    const one = await lab({ allowDdl: true, sql, ...options });
    open.push(one);
    return { ...one, call: fakeCall(agrees === undefined ? {} : { agrees }) };
  };
}

/** The id of the recorded change in a tool's answer. */
export const idOf = (answer: object) => ("change_id" in answer ? String(answer.change_id) : "");
