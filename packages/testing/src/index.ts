export { type FakeCallOptions, fakeCall, type RecordedCall } from "./call.ts";
export {
  type Connected,
  type ConnectOptions,
  connectHttp,
  connectInMemory,
  connectStdio,
  type Era,
  type HttpConnectOptions,
  type HttpProcess,
  nodeBoundByPermissions,
  type ProcessEnd,
  type RawSession,
  rawSession,
  startHttp,
  untilListening,
} from "./connect.ts";
export { type ContractOptions, contract, type World } from "./contract.ts";
export { type CallTool, evals, type Task } from "./evals.ts";
export { problemsOf, tokensOf } from "./portable.ts";
export { descendantsOf, isRunning } from "./processes.ts";
export { randomOf } from "./random.ts";
