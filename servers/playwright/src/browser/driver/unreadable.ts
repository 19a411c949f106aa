/** The client's side of Playwright's connection to itself; it has no public name. */
interface Connection {
  dispatch(message: { readonly id?: string }): void;
  readonly _callbacks: ReadonlyMap<string, { reject(error: unknown): void }>;
}

const GONE = /was not bound in the connection|^Cannot find (?:parent )?object/;
const guarded = new WeakSet<object>();

/**
 * Makes a message that Playwright cannot read fail only the call it answers. If the answer to a navigation arrives
 * while its context is being closed, as when a run reaches its deadline, Playwright 1.65 refers to a response that it
 * has just disposed of. It then throws in its own message loop, which would end this process, and never settles the
 * call.
 *
 * @param owner any object of Playwright's.
 */
export function failUnreadableAnswers(owner: object): void {
  const connection: unknown = Reflect.get(owner, "_connection");
  if (!isConnection(connection) || guarded.has(connection)) return;
  guarded.add(connection);
  const dispatch = connection.dispatch.bind(connection);
  connection.dispatch = (message) => {
    const waiting = message.id === undefined ? undefined : connection._callbacks.get(message.id);
    try {
      dispatch(message);
    } catch (error) {
      if (!(error instanceof Error && GONE.test(error.message))) throw error;
      waiting?.reject(error);
    }
  };
}

function isConnection(value: unknown): value is Connection {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof Reflect.get(value, "dispatch") === "function" &&
    Reflect.get(value, "_callbacks") instanceof Map
  );
}
