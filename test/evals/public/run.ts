import { join } from "node:path";
import type Anthropic from "@anthropic-ai/sdk";
import { type CallTool, connectStdio, type World } from "@refmcp/testing";
import { serverBin } from "../../servers.ts";
import { solve } from "../model.ts";
import { type PublicTask, Unavailable } from "./benchmark.ts";
import { Databases } from "./databases.ts";
import { copyFiles, type Place, runScript, type ScriptResult } from "./place.ts";

/** Solves a task with tool calls only, from what the tools return. */
export type Solution = (call: CallTool, prompt: string) => Promise<unknown>;

/** How a task went. */
export interface Outcome {
  readonly id: string;
  readonly verdict: "pass" | "fail" | "skip";
  /** Why it failed or was skipped. */
  readonly reason: string;
  readonly calls: number;
  /** How many of the calls failed. */
  readonly errors: number;
  /** With a reference solution: a fourth of the characters that the tools returned. With a model: what its API counted. */
  readonly tokens: number;
}

export interface RunOptions {
  readonly checkout: string;
  /** The Python that runs the benchmark's scripts. */
  readonly python: string;
  /** The folder with `initdb` and `postgres`, if not the machine's own PostgreSQL. */
  readonly binaries?: string;
  readonly solutions: Readonly<Record<string, Solution>>;
  /** Solves the tasks instead of the solutions. */
  readonly model?: { readonly api: Anthropic; readonly name: string };
}

/** As many as the benchmark itself allows a model. */
const MAX_TURNS = 100;
type Effort = Pick<Outcome, "calls" | "errors" | "tokens"> & { readonly verified: ScriptResult };

/** Runs tasks of a checkout one by one. */
export class PublicRun {
  readonly #options: RunOptions;
  readonly #databases: Databases;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#databases = new Databases(options);
  }

  /** Solves a task on a fresh copy of its data and runs the benchmark's verifier. */
  async task(task: PublicTask): Promise<Outcome> {
    try {
      const untouched = await this.#on(task, (place) => this.#verify(task, place));
      if (untouched.passed)
        throw new Unavailable(
          "its verifier passes before anything is done, so this is not the data that the benchmark prepared",
        );
      const { verified, ...figures } = await this.#on(task, (place) => this.#solve(task, place));
      return {
        id: task.id,
        verdict: verified.passed ? "pass" : "fail",
        reason: verified.reason,
        ...figures,
      };
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      return {
        id: task.id,
        verdict: "skip",
        reason: error.message,
        calls: 0,
        errors: 0,
        tokens: 0,
      };
    }
  }

  stop(): Promise<void> {
    return this.#databases.stop();
  }

  async #on<Result>(task: PublicTask, use: (place: Place) => Promise<Result>): Promise<Result> {
    const place = await (task.service === "filesystem"
      ? copyFiles(this.#options.checkout, task)
      : this.#databases.copy(task));
    try {
      return await use(place);
    } finally {
      await place.dispose();
    }
  }

  #verify(task: PublicTask, { verifierEnv }: Place): Promise<ScriptResult> {
    const script = join(task.folder, "verify.py");
    return runScript(this.#options.python, script, {
      cwd: this.#options.checkout,
      env: verifierEnv,
    });
  }

  #solve(task: PublicTask, place: Place): Promise<Effort> {
    const { model, solutions } = this.#options;
    if (model !== undefined) return this.#withModel(model, task, place);
    const solution = solutions[task.id];
    if (solution === undefined)
      throw new Unavailable("no reference solution; --model lets a model try");
    return this.#withSolution(solution, task, place);
  }

  async #withSolution(solution: Solution, task: PublicTask, place: Place): Promise<Effort> {
    const figures = { calls: 0, errors: 0, tokens: 0 };
    const { client, close } = await connectStdio(serverBin(task.service), {
      args: place.args,
      elicit: agree,
    });
    const call: CallTool = async (name, args = {}) => {
      figures.calls += 1;
      const { content, isError } = await client.callTool({ name, arguments: { ...args } });
      const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
      figures.tokens += Math.ceil(text.length / 4);
      if (isError !== true) return text;
      figures.errors += 1;
      throw new ToolFailure(`${name}: ${text}`);
    };
    try {
      await solution(call, task.prompt);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      return { ...figures, verified: { passed: false, reason: error.message } };
    } finally {
      await close();
    }
    return { ...figures, verified: await this.#verify(task, place) };
  }

  async #withModel(
    { api, name }: NonNullable<RunOptions["model"]>,
    task: PublicTask,
    place: Place,
  ): Promise<Effort> {
    let verified: ScriptResult = { passed: false, reason: "" };
    const world: World = {
      args: place.args,
      calls: {},
      fingerprint: async () => "",
      stable: (text) => text,
      dispose: async () => undefined,
    };
    const { calls, errors, tokens } = await solve(
      api,
      name,
      serverBin(task.service),
      {
        name: task.id,
        prompt: `${task.prompt}\n\nComplete this with the tools, without asking back.`,
        reference: async () => "",
        check: async () => {
          verified = await this.#verify(task, place);
          return verified.passed;
        },
      },
      world,
      MAX_TURNS,
    );
    return { calls: calls.length, errors, tokens, verified };
  }
}

/** A tool that refused or failed. */
class ToolFailure extends Error {}

const agree = () => ({ action: "accept" as const, content: { confirm: true } });
