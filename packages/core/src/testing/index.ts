export { type FakeCallOptions, fakeCall, type RecordedCall } from "./call.ts";
export {
  type Connected,
  type ConnectOptions,
  connectInMemory,
  connectStdio,
  type Era,
  nodeBoundByPermissions,
  type ProcessEnd,
  type RawSession,
  rawSession,
} from "./connect.ts";
export {
  connectHttp,
  type HttpConnectOptions,
  type HttpProcess,
  startHttp,
} from "./connect-http.ts";
export { type ContractOptions, contract, type World } from "./contract.ts";
export { type CallTool, evals, type Task } from "./evals.ts";
export { layoutProblems } from "./layout.ts";
export { problemsOf, tokensOf } from "./portable.ts";
