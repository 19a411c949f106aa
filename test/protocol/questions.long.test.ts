import { describe, expect, it } from "vitest";
import { type Answerer, likelyAnswer } from "./client.ts";
import { conversation } from "./conversation.ts";
import { probeLauncher } from "./probe.ts";
import { Recorder } from "./recorder.ts";
import { type Fields, fieldsAt, listAt, MODERN, REVISIONS } from "./revisions.ts";

const launch = probeLauncher();

/** Each kind of question, the tool that asks it, and the revision that introduced it. */
const QUESTIONS = [
  { capability: "elicitation", tool: "probe_form", first: "2025-06-18" },
  { capability: "elicitation", tool: "probe_wipe", first: "2025-06-18" },
  { capability: "elicitation", tool: "probe_visit", first: "2025-11-25" },
  { capability: "sampling", tool: "probe_sample", first: "2024-11-05" },
] as const;

/** Whether a tool returned an answer, and no error of either kind. */
const didWork = (reply: Fields): boolean => "content" in reply && reply.isError !== true;

describe.each(REVISIONS)("%s, questions to the client", (revision) => {
  let answer: Answerer = likelyAnswer;
  const known = QUESTIONS.filter(({ first }) => revision >= first);
  const talk = conversation(() => launch("--toolsets", "all"), revision, {
    answer: (method, params) => answer(method, params),
  });

  /** Calls a tool while the client answers in this way; the result. */
  async function ask(tool: string, answers: Answerer = likelyAnswer): Promise<Fields> {
    answer = answers;
    const reply = await talk.recorder.complete("tools/call", { name: tool, arguments: {} });
    await talk.recorder.alive();
    return fieldsAt(reply, "result");
  }

  it.each(known)("$tool continues with the answer", async ({ tool }) => {
    expect(didWork(await ask(tool))).toBe(true);
  });

  it.each(known.filter(({ capability }) => capability === "elicitation"))(
    "$tool does nothing if the user declines",
    async ({ tool }) => {
      for (const action of ["decline", "cancel"]) {
        const no: Answerer = (method, params) =>
          method === "elicitation/create" ? { action } : likelyAnswer(method, params);
        expect(await ask(tool, no)).toMatchObject({ isError: true });
      }
    },
  );

  it.each([
    ["nothing", {}],
    ["lists of the wrong type", { roots: 5, content: 5, action: 5 }],
    [
      "members of the wrong type",
      { roots: [{ uri: 5 }], action: "accept", content: { text: {} }, role: "x" },
    ],
    ["an unknown action", { action: "perhaps", roots: [], role: "assistant", content: [] }],
    ["null", { action: null, roots: null, role: null, content: null, model: null }],
    [
      "a URI that is none",
      { roots: [{ uri: "nowhere" }, { uri: "http://example.com" }], action: "accept" },
    ],
  ])("survives a client that answers %s", async (_name, response) => {
    for (const name of ["probe_extra", ...known.map(({ tool }) => tool)]) {
      const result = await ask(name, () => response);
      // Nothing counts as a yes.
      if (name === "probe_wipe") expect(result).not.toHaveProperty("structuredContent");
    }
  });

  it("asks for roots and uses them", async () => {
    const roots = [{ uri: "file:///nowhere/a" }, { uri: "file:///nowhere/b", name: "b" }];
    const [block] = listAt(
      await ask("probe_extra", (method, params) =>
        method === "roots/list" ? { roots } : likelyAnswer(method, params),
      ),
      "content",
    );
    expect(JSON.parse(String(block?.text))).toEqual(roots);
  });
});

describe("2026-07-28, the state of a question", () => {
  const call = { name: "probe_wipe", arguments: {} };

  /** A connection with the first question of `probe_wipe` open: its state, and an answer to it. */
  async function asked() {
    const recorder = new Recorder(launch("--roots", "off"), MODERN);
    await recorder.open();
    const { inputRequests, requestState } = fieldsAt(
      await recorder.request("tools/call", call),
      "result",
    );
    const [key = ""] = Object.keys(fieldsAt(inputRequests));
    const inputResponses = { [key]: { action: "accept", content: { confirm: true } } };
    return { recorder, requestState: String(requestState), inputResponses };
  }
  const codeOf = (reply: Fields) => fieldsAt(reply, "error").code;
  const typeOf = (reply: Fields) => fieldsAt(reply, "result").resultType;

  it("is refused if it was changed", async () => {
    const { recorder, requestState, inputResponses } = await asked();
    const middle = Math.floor(requestState.length / 2);
    const swapped = requestState[middle] === "A" ? "B" : "A";
    const forged = [
      requestState.slice(0, -1),
      `${requestState.slice(0, middle)}${swapped}${requestState.slice(middle + 1)}`,
      requestState.slice(requestState.indexOf(".") + 1),
    ];
    for (const state of forged) {
      const reply = await recorder.request("tools/call", {
        ...call,
        inputResponses,
        requestState: state,
      });
      expect(codeOf(reply)).toBe(-32602);
    }
    expect(await recorder.finish()).toEqual([]);
  });

  it("asks again for what is missing", async () => {
    const { recorder, requestState, inputResponses } = await asked();
    expect(
      typeOf(await recorder.request("tools/call", { ...call, requestState, inputResponses: {} })),
    ).toBe("input_required");
    const next = await recorder.request("tools/call", { ...call, requestState, inputResponses });
    expect(typeOf(next)).toBe("input_required");
    expect(JSON.stringify(next)).toContain("Why?");
    expect(await recorder.finish()).toEqual([]);
  });

  it("is not valid for another call", async () => {
    const { recorder, requestState, inputResponses } = await asked();
    const second = await recorder.request("tools/call", { ...call, requestState, inputResponses });
    const carried = fieldsAt(second, "result").requestState;
    // The counter has changed, so another loss would have to be confirmed.
    await recorder.request("tools/call", { name: "probe_count", arguments: {} });
    const later = await recorder.request("tools/call", { ...call, requestState: carried });
    expect(JSON.stringify(later)).toContain("Lose the count of 1?");
    const elsewhere = await recorder.request("prompts/get", {
      name: "probe_tour",
      requestState: carried,
    });
    expect(codeOf(elsewhere)).toBe(-32602);
    expect(await recorder.finish()).toEqual([]);
  });
});
